-- Forgets executors that ended long ago, and events that belong to no queue: one batch at each start of an executor,
-- which adds one. Kept: the newest 10,000 incarnations, a month of events, and each executor with sessions that are
-- still to be ended.
CREATE OR REPLACE FUNCTION lockstep.executor_forget(p_kept int DEFAULT 10000) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    executors int;
    events int;
    newest CONSTANT int := (SELECT pg_catalog.max(e.executor_no) FROM lockstep.executor e);
BEGIN
    DELETE FROM lockstep.executor e WHERE e.executor_no = ANY (ARRAY(
        SELECT o.executor_no FROM lockstep.executor o
        WHERE o.executor_no <= newest - p_kept AND o.ended_at < pg_catalog.now() - interval '1 day'
          AND NOT EXISTS (SELECT FROM lockstep.executor_session s WHERE s.executor_no = o.executor_no)
        ORDER BY o.executor_no LIMIT 1000 FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS executors = ROW_COUNT;
    DELETE FROM lockstep.event_log l WHERE l.event_id = ANY (ARRAY(
        SELECT o.event_id FROM lockstep.event_log o
        WHERE o.queue_id IS NULL AND o.run_no IS NULL AND o.at < pg_catalog.now() - interval '30 days'
        ORDER BY o.at LIMIT 1000 FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS events = ROW_COUNT;
    RETURN executors + events;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.executor_forget(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.executor_forget(int) TO lockstep_executor;
