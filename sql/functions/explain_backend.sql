-- The session in which an executor runs a task: that one of its readers whose transaction began when the task did. NULL: not known,
-- or the caller may not see it.
CREATE OR REPLACE FUNCTION lockstep.explain_backend(p_executor_no int, p_started_at timestamptz) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT a.pid FROM lockstep.executor_session s JOIN pg_catalog.pg_stat_activity a ON a.pid = s.pid AND a.backend_start = s.backend_start
    WHERE s.executor_no = p_executor_no AND s.kind = 'reader' AND a.state <> 'idle'
      AND a.xact_start BETWEEN p_started_at - interval '500 ms' AND p_started_at + interval '500 ms'
    ORDER BY GREATEST(a.xact_start - p_started_at, p_started_at - a.xact_start) LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_backend(int, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_backend(int, timestamptz) TO lockstep_executor, lockstep_operator, lockstep_monitor;
