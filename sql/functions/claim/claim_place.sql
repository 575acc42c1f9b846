-- The run of a segment, and the place of the segment in it. claim calls this under the lock of the queue's row.
-- p_run: the id of the run. NULL: the messages name no run and are of the implicit run p_implicit_run_no of epoch
-- p_epoch. p_seq: the sequence number of the first record.
--
-- run_no    NULL: no message of this run was claimed before
-- fresh     the segment begins a phase
-- in_order  the segment continues the last phase of its run or begins the next one, as most segments do. claim_judge
--           decides about the other segments
-- The other columns are those of the run.
CREATE OR REPLACE FUNCTION lockstep.claim_place(
    p_queue_id int, p_run uuid, p_implicit_run_no bigint, p_epoch int, p_order bigint, p_previous bigint, p_seq bigint,
    OUT run_no bigint, OUT fresh boolean, OUT in_order boolean, OUT last_phase_id bigint, OUT stop_after bigint,
    OUT status text, OUT paused_by text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    is_implicit CONSTANT boolean := p_run IS NULL;
    r record;
BEGIN
    SELECT run.run_no, next_seq, last_phase_id, last_order, last_previous_order, end_offset, stop_after, first_offset,
           status, paused_by, epoch, swept
    INTO r
    FROM lockstep.run
    -- CASE, so that each way has an index, also in a generic plan
    WHERE run.run_no = CASE WHEN is_implicit THEN p_implicit_run_no
                            ELSE (SELECT b.run_no
                                  FROM lockstep.run b WHERE b.queue_id = p_queue_id AND b.run_id = p_run) END;
    -- A row without an offset was made by its producer. To an implicit run of an earlier epoch nothing of this one
    -- belongs.
    run_no := CASE WHEN FOUND AND r.first_offset IS NOT NULL AND NOT (is_implicit AND r.epoch <> p_epoch)
                       THEN r.run_no END;
    fresh := r.last_order <> p_order;
    last_phase_id := r.last_phase_id;
    stop_after := r.stop_after;
    status := r.status;
    paused_by := r.paused_by;
    in_order := run_no IS NOT NULL AND last_phase_id IS NOT NULL AND NOT (fresh AND is_implicit AND p_previous = 0)
                AND NOT r.swept
                AND p_previous = CASE WHEN fresh THEN r.last_order ELSE r.last_previous_order END
                AND (is_implicit OR (r.end_offset IS NULL AND p_seq = r.next_seq));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.claim_place(int, uuid, bigint, int, bigint, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.claim_place(int, uuid, bigint, int, bigint, bigint, bigint) TO lockstep_executor;
