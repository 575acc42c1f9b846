-- Retention, one batch of it: at most p_rows tasks of the oldest run that nothing keeps any more are deleted, with their attempts, and
-- counted into its summary; then its events and phases; its own row stays. A run is kept as long as one of the queue's settings keeps
-- it. Nothing is waited for: what somebody has locked is for the next time. A run that is being swept is locked against whoever would
-- reopen it (reopen locks its row, too), and marked; a row that another table refers to keeps its run for an hour.
--   deleted   rows in this batch; 0: nothing is left to do for now
--   ended     a run whose last rows these were
CREATE OR REPLACE FUNCTION lockstep.sweep(p_queue_id int, p_rows int, OUT deleted bigint, OUT ended uuid, OUT held text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    no bigint;
    r record;
BEGIN
    deleted := 0;
    IF NOT pg_catalog.pg_try_advisory_xact_lock(lockstep.lock_class('sweep'), p_queue_id) THEN
        RETURN; -- another executor is at it
    END IF;
    no := lockstep.sweep_next(p_queue_id);
    IF no IS NULL THEN
        RETURN;
    END IF;
    PERFORM FROM lockstep.run b WHERE b.run_no = no FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A statement of its own: it may have been reopened before we had the row.
    SELECT b.run_id, b.ended_at, b.replay_id INTO STRICT r FROM lockstep.run b WHERE b.run_no = no;
    IF r.ended_at IS NULL OR r.replay_id IS NOT NULL THEN
        RETURN;
    END IF;
    BEGIN
        PERFORM lockstep.event_freeze(no); -- what is still to be told of it counts its tasks
        INSERT INTO lockstep.run_summary AS s (run_no, begun_at) VALUES (no, pg_catalog.clock_timestamp())
        ON CONFLICT (run_no) DO UPDATE SET begun_at = COALESCE(s.begun_at, EXCLUDED.begun_at), held = NULL, look_at = NULL;
        UPDATE lockstep.run SET swept = true WHERE run_no = no AND NOT swept;
        WITH doomed AS (
            SELECT t.task_id FROM lockstep.phase p JOIN lockstep.task t USING (phase_id)
            WHERE p.run_no = no ORDER BY p."order", t.kafka_offset LIMIT p_rows FOR UPDATE OF t SKIP LOCKED),
        attempts AS (DELETE FROM lockstep.task_attempt a USING doomed d WHERE a.task_id = d.task_id RETURNING a.task_id),
        gone AS (DELETE FROM lockstep.task t USING doomed d WHERE t.task_id = d.task_id RETURNING t.status, t.duration),
        sums AS (
            SELECT pg_catalog.count(*) AS tasks, pg_catalog.count(*) FILTER (WHERE g.status = 'Completed') AS completed,
                   pg_catalog.count(*) FILTER (WHERE g.status IN ('Failed', 'Terminated', 'PartiallyCompleted')) AS failed,
                   pg_catalog.count(*) FILTER (WHERE g.status = 'Cancelled') AS cancelled,
                   COALESCE(pg_catalog.sum(g.duration), '0') AS busy FROM gone g),
        counted AS (
            UPDATE lockstep.run_summary s
            SET tasks = s.tasks + x.tasks, completed = s.completed + x.completed, failed = s.failed + x.failed,
                cancelled = s.cancelled + x.cancelled, busy = s.busy + x.busy,
                attempts = s.attempts + (SELECT pg_catalog.count(*) FROM attempts)
            FROM sums x WHERE s.run_no = no)
        SELECT x.tasks INTO deleted FROM sums x;
        IF deleted = 0 AND EXISTS (SELECT FROM lockstep.phase p JOIN lockstep.task t USING (phase_id) WHERE p.run_no = no) THEN
            RAISE EXCEPTION 'its rows are locked by another session' USING ERRCODE = 'restrict_violation';
        ELSIF deleted < p_rows THEN
            deleted := deleted + lockstep.sweep_end(no, p_rows);
            ended := (SELECT r.run_id FROM lockstep.run_summary s WHERE s.run_no = no AND s.swept_at IS NOT NULL);
        END IF;
    EXCEPTION WHEN foreign_key_violation OR restrict_violation THEN
        deleted := 0;
        held := SQLERRM;
    END;
    IF held IS NOT NULL THEN -- the next one meanwhile
        deleted := 1;
        INSERT INTO lockstep.run_summary AS s (run_no, held, look_at) VALUES (no, held, pg_catalog.clock_timestamp() + interval '1 hour')
        ON CONFLICT (run_no) DO UPDATE SET held = EXCLUDED.held, look_at = EXCLUDED.look_at;
        held := pg_catalog.format('run %s: %s', r.run_id, held);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sweep(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sweep(int, int) TO lockstep_executor;
