-- Decides about a segment, from its record p_head, that does not just continue the last phase of its run: it is another
-- phase, another run, the end, or wrong. p_run_no: the run, NULL: not seen before. An end is claimed here, and wrong
-- records are refused. Messages of a run that retention has deleted, or has begun to delete, are counted as cancelled
-- here: an operator had cancelled it before its end came. See claim.
--
-- verdict   NULL        it may be claimed
--           the others  are the answer of claim, with run_no, phase_id, next_offset and note
-- fresh     it begins a phase
-- begins    it begins a run
-- loose     rejected records that account for the sequence numbers that are missing before it; if they do not, loss
--           says that messages are lost
CREATE OR REPLACE FUNCTION lockstep.claim_judge(
    p_queue_id int, p_executor_no int, p_segment lockstep.segment, p_head int, p_run_no bigint, OUT verdict text,
    OUT fresh boolean, OUT begins boolean, OUT loose bigint[], OUT loss text,
    OUT run_no bigint, OUT phase_id bigint, OUT next_offset bigint, OUT note text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    is_task CONSTANT boolean := p_segment.kind = 'task';
    is_implicit CONSTANT boolean := p_segment.run IS NULL;
    known CONSTANT boolean := p_run_no IS NOT NULL;
    head_offset CONSTANT bigint := p_segment.offsets[p_head];
    head_seq CONSTANT bigint := p_segment.seqs[p_head];
    last int := pg_catalog.cardinality(p_segment.offsets);
    queue_row record;
    run_row record;
    refused text;      -- why the tags are wrong
    gap bigint := 0;   -- sequence numbers that are missing
BEGIN
    SELECT q.epoch, q.last_run_no, q.unknown_at INTO STRICT queue_row
    FROM lockstep.queue q WHERE q.queue_id = p_queue_id;
    SELECT r.next_seq, r.last_phase_id, r.last_order, r.last_previous_order, r.end_offset, r.swept INTO run_row
    FROM lockstep.run r WHERE r.run_no = p_run_no;
    run_no := p_run_no;
    loose := '{}';

    IF p_segment.kind = 'reject' THEN -- a record that is no message
        PERFORM lockstep.claim_unreadable(p_queue_id, p_executor_no, queue_row.epoch, p_segment, p_head, run_no,
            p_counts => known AND NOT is_implicit AND run_row.end_offset IS NULL AND head_seq = run_row.next_seq);
        verdict := 'rejected';
        next_offset := lockstep.cursor_advance(p_queue_id, head_offset, p_segment.last_timestamp,
                                               p_segment.last_digest);
        RETURN;
    END IF;

    -- The sequence within a run: dense from 0.
    IF is_implicit THEN
        NULL;
    ELSIF known AND head_seq < run_row.next_seq THEN -- duplicates, up to where the new ones begin
        last := LEAST(last, p_head + run_row.next_seq - 1 - head_seq); -- in bigint: the difference may be large
        refused := 'duplicate';
    ELSIF known AND run_row.end_offset IS NOT NULL THEN
        refused := 'late';
    ELSE
        gap := head_seq - CASE WHEN known THEN run_row.next_seq ELSE 0 END;
    END IF;
    IF gap > 0 THEN
        loose := lockstep.claim_loose(p_queue_id, queue_row.epoch, queue_row.last_run_no, run_no, head_offset, gap);
        IF gap > pg_catalog.cardinality(loose) AND NOT known AND queue_row.unknown_at IS DISTINCT FROM head_offset THEN
            note := lockstep.claim_unknown_run(p_queue_id, p_executor_no, p_segment.run, head_seq, head_offset);
            verdict := 'halted';
            RETURN;
        ELSIF gap > pg_catalog.cardinality(loose) THEN
            loss := CASE WHEN known THEN pg_catalog.format('messages are lost: after seq %s came seq %s (offset %s)',
                                                           run_row.next_seq - 1, head_seq, head_offset)
                         ELSE pg_catalog.format('messages are lost: the run begins with seq %s (offset %s)', head_seq,
                                                head_offset) END;
        END IF;
    END IF;

    -- The tags. The implicit run is the state machine of the documentation.
    fresh := COALESCE(is_task AND is_implicit AND p_segment.previous = 0
                      AND (NOT known OR p_segment."order" <> run_row.last_order OR run_row.last_previous_order <> 0),
                      false);
    begins := fresh OR NOT known;
    -- the name of the new run comes from its first offset: have it computed again
    IF refused IS NULL AND fresh AND p_head > 1 THEN
        verdict := 'moved';
        RETURN;
    ELSIF refused IS NULL AND is_task AND NOT fresh THEN
        fresh := NOT known OR run_row.last_phase_id IS NULL OR p_segment."order" <> run_row.last_order;
        refused := CASE WHEN NOT known OR run_row.last_phase_id IS NULL
                            THEN CASE WHEN p_segment.previous <> 0 THEN 'hole' END
                        WHEN NOT fresh
                            THEN CASE WHEN p_segment.previous <> run_row.last_previous_order THEN 'contradiction' END
                        WHEN p_segment.previous <> run_row.last_order
                            THEN CASE WHEN p_segment."order" < run_row.last_order THEN 'late' ELSE 'hole' END END;
    ELSIF p_segment.kind = 'end' AND is_implicit AND NOT known THEN
        refused := 'hole';
    END IF;
    IF refused IS NOT NULL AND p_segment.withheld THEN
        verdict := 'bare';
    ELSIF refused IS NOT NULL THEN
        verdict := 'rejected';
        run_no := lockstep.claim_refuse(p_queue_id, p_executor_no, queue_row.epoch, p_segment, p_head, last, refused,
                                        run_no, gap, loose, loss);
        -- The digest is that of the segment's last record; without it the identity rests on the record before.
        next_offset := CASE WHEN last = pg_catalog.cardinality(p_segment.offsets) THEN lockstep.cursor_advance(
                                p_queue_id, p_segment.offsets[last], p_segment.last_timestamp, p_segment.last_digest)
                            ELSE lockstep.cursor_advance(p_queue_id, p_segment.offsets[last], NULL, NULL) END;
    ELSIF p_segment.kind = 'end' THEN
        IF begins OR gap > 0 THEN
            run_no := (SELECT r.run_no
                       FROM lockstep.claim_run(p_queue_id, p_segment, p_head, run_no, loose, loss) AS r);
        END IF;
        note := lockstep.claim_end(p_queue_id, p_segment, p_head, run_no, loss);
        verdict := 'ended';
        next_offset := lockstep.cursor_advance(p_queue_id, head_offset, p_segment.last_timestamp,
                                               p_segment.last_digest);
        phase_id := run_row.last_phase_id;
    ELSIF run_row.swept AND NOT begins THEN -- cancelled before; its rows are deleted, so none is added to them
        PERFORM lockstep.claim_counted(run_no, run_row.last_phase_id, last - p_head + 1, fresh, false,
                                       p_segment."order", p_segment.previous,
                                       CASE WHEN NOT is_implicit THEN p_segment.seqs[last] + 1 END);
        UPDATE lockstep.run_summary s
        SET tasks = s.tasks + last - p_head + 1, cancelled = s.cancelled + last - p_head + 1
        WHERE s.run_no = p_run_no;
        verdict := 'moved';
        next_offset := lockstep.cursor_advance(p_queue_id, p_segment.offsets[last], p_segment.last_timestamp,
                                               p_segment.last_digest);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.claim_judge(int, int, lockstep.segment, int, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.claim_judge(int, int, lockstep.segment, int, bigint) TO lockstep_executor;
