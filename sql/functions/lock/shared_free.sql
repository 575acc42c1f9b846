-- Has no session S of this phase, at this moment?
CREATE OR REPLACE FUNCTION lockstep.shared_free(p_phase_id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    class CONSTANT int := lockstep.lock_class('phase');
    key CONSTANT int := lockstep.phase_key(p_phase_id, 0);
BEGIN
    RETURN pg_catalog.pg_try_advisory_lock(class, key) AND pg_catalog.pg_advisory_unlock(class, key);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.shared_free(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.shared_free(bigint) TO lockstep_executor;
