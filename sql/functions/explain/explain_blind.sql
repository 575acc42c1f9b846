-- Whether this server is a standby: it sees rows, but no lock and no session of the executors on the primary.
CREATE OR REPLACE FUNCTION lockstep.explain_blind() RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.pg_is_in_recovery()
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_blind() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_blind()
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
