-- The reason that the role which asks may not see the activity of other sessions. The row is the same for each such
-- session, so that explain says it once.
CREATE OR REPLACE FUNCTION lockstep.explain_hidden() RETURNS SETOF lockstep.explanation LANGUAGE sql STABLE AS $$
    SELECT 'sessions_hidden', h.reason, 'server', NULL::timestamptz, h.hint FROM lockstep.sessions_hidden() AS h
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_hidden() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_hidden()
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
