-- Claims messages for a replay: lockstep.claim itself, with the replay's cursor in the place of the queue's for the
-- length of this transaction. The caller has the lock of the queue's row, so no session sees it in between. The columns
-- that a claim writes there are restored at the end (a column of the queue that a claim comes to write belongs into
-- both lists below). The tasks have no owner: executors adopt them. The segment is as in replay_judge and contiguous;
-- claimed is the number of its records, from the first, that became rows.
--
-- verdict   made       rows were written
--           busy       a gate has the phase: try again in a moment
--           unknown    the run has no beginning
CREATE OR REPLACE FUNCTION lockstep.replay_claim(
    p_replay_id int, p_segment lockstep.segment, OUT verdict text, OUT claimed int, OUT run_no bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    replay_row record;
    queue_row record;
    answer record;
    after record;
BEGIN
    claimed := 0;
    SELECT y.queue_id, y.implicit_run_no, y.last_run_no INTO STRICT replay_row
    FROM lockstep.replay y WHERE y.replay_id = p_replay_id;
    SELECT b.next_offset, b.last_offset, b.last_timestamp, b.last_digest, b.last_run_no, b.implicit_run_no, b.lookahead,
           b.paused, b.halted_reason, b.halted_detail, b.halted_at
    INTO STRICT queue_row
    FROM lockstep.queue b WHERE b.queue_id = replay_row.queue_id FOR NO KEY UPDATE;
    IF queue_row.halted_reason IS NOT NULL THEN -- after replay_step had asked
        RAISE EXCEPTION 'replay %: the queue was halted', p_replay_id USING ERRCODE = 'serialization_failure';
    END IF;
    BEGIN
        -- Whether there is room for another phase is asked by the caller, and a paused queue may be prepared.
        UPDATE lockstep.queue b
        SET next_offset = p_segment.offsets[1], implicit_run_no = replay_row.implicit_run_no,
            last_run_no = replay_row.last_run_no, lookahead = 1000, paused = false
        WHERE b.queue_id = replay_row.queue_id;
        SELECT * INTO answer
        FROM lockstep.claim(p_queue_id => replay_row.queue_id, p_executor_no => NULL,
                            p_buffer_from => p_segment.offsets[1], p_segment => p_segment, p_held => '{}');
        IF answer.verdict NOT IN ('claimed', 'cancelled', 'rejected', 'ended') THEN
            RAISE EXCEPTION 'the claim of a replay said %', answer.verdict USING ERRCODE = 'LS002';
        END IF;
        SELECT b.next_offset, b.last_run_no, b.implicit_run_no INTO STRICT after
        FROM lockstep.queue b WHERE b.queue_id = replay_row.queue_id;
        UPDATE lockstep.queue b
        SET next_offset = queue_row.next_offset, last_offset = queue_row.last_offset,
            last_timestamp = queue_row.last_timestamp, last_digest = queue_row.last_digest,
            last_run_no = queue_row.last_run_no, implicit_run_no = queue_row.implicit_run_no,
            lookahead = queue_row.lookahead, paused = queue_row.paused, halted_reason = queue_row.halted_reason,
            halted_detail = queue_row.halted_detail, halted_at = queue_row.halted_at
        WHERE b.queue_id = replay_row.queue_id;
    EXCEPTION
        WHEN SQLSTATE 'LS002' THEN -- all of its changes are undone
            verdict := CASE WHEN answer.verdict = 'halted' THEN 'unknown'
                            WHEN answer.verdict IN ('busy', 'lookahead', 'others') THEN 'busy' END;
            IF verdict IS NULL THEN
                RAISE EXCEPTION 'replay %: the claim of offset % said %', p_replay_id, p_segment.offsets[1],
                                answer.verdict;
            END IF;
            RETURN;
    END;
    IF answer.took_shared AND NOT lockstep.unlock_shared(answer.phase_id) THEN
        RAISE EXCEPTION 'phase %: S was granted and is not held', answer.phase_id;
    END IF;
    UPDATE lockstep.replay y
    SET implicit_run_no = after.implicit_run_no, last_run_no = COALESCE(after.last_run_no, y.last_run_no)
    WHERE y.replay_id = p_replay_id;
    verdict := 'made';
    run_no := answer.run_no;
    SELECT pg_catalog.count(*) INTO claimed FROM pg_catalog.unnest(p_segment.offsets) AS o WHERE o < after.next_offset;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_claim FROM PUBLIC;
