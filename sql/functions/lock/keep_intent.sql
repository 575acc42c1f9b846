-- IX of a phase, which this transaction has, is the session's from here on: granted inside the backend, without a wait.
-- NULL: of none.
CREATE OR REPLACE FUNCTION lockstep.keep_intent(phase_id bigint) RETURNS void LANGUAGE sql AS $$
    SELECT pg_catalog.pg_advisory_lock_shared(lockstep.lock_class('phase'), lockstep.phase_key(phase_id, 1)) -- B
$$;
REVOKE EXECUTE ON FUNCTION lockstep.keep_intent(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.keep_intent(bigint) TO lockstep_executor;
