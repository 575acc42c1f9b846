-- Gives one take of S of a phase back. false, with the server's warning: this session did not hold it, which is a bug.
CREATE OR REPLACE FUNCTION lockstep.unlock_shared(phase_id bigint) RETURNS boolean LANGUAGE sql AS $$
    SELECT pg_catalog.pg_advisory_unlock_shared(lockstep.lock_class('phase'), lockstep.phase_key(phase_id, 0)) -- A
$$;
REVOKE EXECUTE ON FUNCTION lockstep.unlock_shared(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.unlock_shared(bigint) TO lockstep_executor;
