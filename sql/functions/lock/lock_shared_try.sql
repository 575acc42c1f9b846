-- Takes S of a phase at session level without waiting at all. false: refused, nothing is held.
CREATE OR REPLACE FUNCTION lockstep.lock_shared_try(phase_id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT lockstep.lock_shared_xact(phase_id) THEN
        RETURN false;
    END IF;
    PERFORM lockstep.keep_shared(phase_id);
    RETURN true;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_shared_try(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_shared_try(bigint) TO lockstep_executor;
