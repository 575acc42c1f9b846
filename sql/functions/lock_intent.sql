-- Takes IX of a phase, waiting at most wait_ms (1 to 500: one slice; the caller loops). false: not granted, nothing is held.
-- As lock_shared, which says why. B too is waited for at transaction level, though with A held exclusive only one S that is
-- just giving up can have it: that wait lasts microseconds, but it must not be one at session level.
CREATE OR REPLACE FUNCTION lockstep.lock_intent(phase_id bigint, wait_ms int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    class CONSTANT int := lockstep.lock_class('phase');
    a CONSTANT int := lockstep.phase_key(phase_id, 0);
    b CONSTANT int := lockstep.phase_key(phase_id, 1);
    old_timeout CONSTANT text := pg_catalog.current_setting('lock_timeout');
BEGIN
    BEGIN
        PERFORM pg_catalog.set_config('lock_timeout', LEAST(500, GREATEST(1, wait_ms))::text, true);
        PERFORM pg_catalog.pg_advisory_xact_lock(class, a);
        PERFORM pg_catalog.pg_advisory_xact_lock_shared(class, b);
        PERFORM pg_catalog.set_config('lock_timeout', old_timeout, true);
    EXCEPTION
        WHEN lock_not_available THEN
            RETURN false;
    END;
    PERFORM pg_catalog.pg_advisory_lock_shared(class, b);
    RETURN true;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_intent(bigint, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_intent(bigint, int) TO lockstep_executor;
