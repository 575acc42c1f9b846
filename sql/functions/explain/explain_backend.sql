-- The session of an attempt that is shown as running: the session that is noted with it, while it is still a reader of
-- its executor. NULL: not known. A role that may not see when sessions began relies on the pid alone, because the
-- executor lists its readers and removes those that it has lost.
CREATE OR REPLACE FUNCTION lockstep.explain_backend(p_executor_no int, p_pid int) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT a.pid
    FROM lockstep.executor_session s
    JOIN pg_catalog.pg_stat_activity a ON a.pid = s.pid
         AND (a.backend_start = s.backend_start OR a.backend_start IS NULL)
    WHERE s.executor_no = p_executor_no AND s.pid = p_pid AND s.kind = 'reader' AND a.state IS DISTINCT FROM 'idle'
    LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_backend(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_backend(int, int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
