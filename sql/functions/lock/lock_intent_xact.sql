-- Acquires IX of a phase until the end of this transaction, waiting at most wait_ms (1 to 500: one slice; 0: not at
-- all). false: not granted. The caller keeps the lock (lockstep.keep_intent) as its last act: a failure before that
-- leaves no lock behind, so the call is simply repeated.
-- The wait is at transaction level, the lock is kept at session level: a session-level wait that times out or is
-- cancelled just as it is granted returns an error with the lock held; a transaction-level wait never does. The kept
-- lock is one that this transaction has already, in the same mode: the backend grants it without a wait and without a
-- new place in the lock table.
-- A slice is short because a waiting statement pins the vacuum horizon, and shorter than deadlock_timeout (1 s).
-- While A is held exclusive, B can only be held by one S that is just being acquired: that wait lasts microseconds.
-- wait_ms 0 is for an executor that releases its S in the same statement. It is refused also while a gate of another
-- executor waits for IX: that gate opens the next phase.
CREATE OR REPLACE FUNCTION lockstep.lock_intent_xact(phase_id bigint, wait_ms int) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    class CONSTANT int := lockstep.lock_class('phase');
    a CONSTANT int := lockstep.phase_key(phase_id, 0);
    b CONSTANT int := lockstep.phase_key(phase_id, 1);
    old_timeout text;
BEGIN
    IF wait_ms = 0 THEN
        RETURN pg_catalog.pg_try_advisory_xact_lock(class, a) AND pg_catalog.pg_try_advisory_xact_lock_shared(class, b);
    END IF;
    old_timeout := pg_catalog.current_setting('lock_timeout');
    BEGIN
        PERFORM pg_catalog.set_config('lock_timeout', LEAST(500, GREATEST(1, wait_ms))::text, true);
        PERFORM pg_catalog.pg_advisory_xact_lock(class, a);
        PERFORM pg_catalog.pg_advisory_xact_lock_shared(class, b);
        PERFORM pg_catalog.set_config('lock_timeout', old_timeout, true);
    EXCEPTION
        WHEN lock_not_available THEN
            RETURN false;
    END;
    RETURN true;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_intent_xact(bigint, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_intent_xact(bigint, int) TO lockstep_executor;
