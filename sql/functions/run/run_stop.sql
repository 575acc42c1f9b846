-- Cancels the phases after p_order, those that are claimed and those to come. The caller has the lock of the queue's
-- row: a claim of a later phase is wholly before (its rows are cancelled here) or wholly after (it sees stop_after).
-- Tasks whose condition says that they run in spite of a failure, or because of it, are spared, unless messages are
-- missing (p_order 0). An executor that has other tasks of their phase asks for them when the phase opens
-- (executor/lane.h: doubtful). Phase rows are locked in ascending order, as gates do (previous, then next), so that the
-- two cannot deadlock.
CREATE OR REPLACE FUNCTION lockstep.run_stop(p_run_no bigint, p_order bigint, p_why text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    stopped bigint[];
    own record;
BEGIN
    -- LEAST passes NULL over
    UPDATE lockstep.run SET stop_after = LEAST(stop_after, p_order), error = COALESCE(error, p_why),
        stop_kept = CASE WHEN cancelled_at IS NOT NULL THEN LEAST(stop_kept, p_order) END
    WHERE run_no = p_run_no RETURNING queue_id INTO STRICT own;
    -- If there are phases to stop, the open phase is locked before them: run_finish writes it, maybe in the same
    -- transaction. Without such phases no row is locked, because a claim may have the last phase.
    IF EXISTS (SELECT FROM lockstep.phase
               WHERE run_no = p_run_no AND "order" > p_order AND opened_at IS NULL AND done_at IS NULL) THEN
        PERFORM FROM lockstep.phase WHERE run_no = p_run_no AND done_at IS NULL ORDER BY "order" FOR NO KEY UPDATE;
    END IF;
    SELECT pg_catalog.array_agg(locked.phase_id) INTO stopped
    FROM (SELECT phase_id FROM lockstep.phase
          -- by phase_left
          WHERE run_no + 0 = p_run_no AND "order" + 0 > p_order AND opened_at IS NULL AND done_at IS NULL
          ORDER BY "order" + 0 FOR UPDATE) AS locked;
    IF stopped IS NOT NULL THEN
        -- + 0: see run_cancel
        PERFORM FROM lockstep.task t WHERE t.phase_id = ANY (stopped) ORDER BY t.task_id + 0 FOR NO KEY UPDATE;
        UPDATE lockstep.task
        SET status = 'Cancelled', token = NULL, executor_no = NULL, updated_at = pg_catalog.clock_timestamp()
        WHERE phase_id = ANY (stopped) AND lockstep.is_unstarted(status) AND (condition IS NULL OR p_order = 0);
        UPDATE lockstep.phase p SET done_at = pg_catalog.clock_timestamp()
        WHERE p.phase_id = ANY (stopped)
          AND NOT (p.conditional
                   AND (SELECT t.task_id
                        FROM lockstep.task t
                        WHERE t.phase_id = p.phase_id AND NOT lockstep.is_finished(t.status) LIMIT 1) IS NOT NULL);
        PERFORM pg_catalog.pg_notify('lockstep_' || own.queue_id, 'run'); -- gates that wait for one of them check again
    END IF;
    INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
    VALUES ('run_stopped', own.queue_id, p_run_no, p_why);
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.run_stop TO lockstep_executor;
