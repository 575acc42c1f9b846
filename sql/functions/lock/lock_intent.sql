-- Takes IX of a phase at session level, waiting at most wait_ms (1 to 500: one slice; the caller loops). false: not
-- granted, nothing is held.
CREATE OR REPLACE FUNCTION lockstep.lock_intent(phase_id bigint, wait_ms int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT lockstep.lock_intent_xact(phase_id, GREATEST(1, wait_ms)) THEN
        RETURN false;
    END IF;
    PERFORM lockstep.keep_intent(phase_id);
    RETURN true;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_intent(bigint, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_intent(bigint, int) TO lockstep_executor;
