-- One reason: an executor does not work on a queue, because of an error that p_does ends with. See explain.
CREATE OR REPLACE FUNCTION lockstep.explain_aside(
    p_executor_no int, p_does text, p_about text, p_since timestamptz, p_names text[])
RETURNS lockstep.explanation LANGUAGE plpgsql STABLE AS $$
DECLARE
    made lockstep.explanation;
BEGIN
    made := lockstep.explain_row('queue_set_aside',
        (SELECT pg_catalog.format('executor %s on %s (pid %s) %s', x.executor_id, x.host, x.pid, p_does)
         FROM lockstep.executor x WHERE x.executor_no = p_executor_no), p_about, p_since, p_names);
    made.helps := COALESCE(lockstep.explain_lacks(p_does), made.helps);
    RETURN made;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_aside(int, text, text, timestamptz, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_aside(int, text, text, timestamptz, text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
