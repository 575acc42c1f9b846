-- That the role that asks may not see what other sessions do: the same row for each such session, so it is said once.
-- See explain.
CREATE OR REPLACE FUNCTION lockstep.explain_hidden() RETURNS SETOF lockstep.explanation LANGUAGE sql STABLE AS $$
    SELECT 'sessions_hidden', h.reason, 'server', NULL::timestamptz, h.hint FROM lockstep.sessions_hidden() AS h
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_hidden() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_hidden()
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
