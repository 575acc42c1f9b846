-- Takes S of a phase, waiting at most wait_ms (1 to 500: one slice; the caller loops). false: not granted, nothing is
-- held. Wait at transaction level, keep at session level: a session-level wait that times out or is cancelled just as
-- it is granted returns an error with the lock held; a transaction-level one never does. What is kept is a lock that
-- this transaction has already, in the same mode: it is granted inside the backend, without a wait and without a place
-- in the lock table. A slice is short because a waiting statement pins the vacuum horizon, and shorter than
-- deadlock_timeout (1 s). Call it as a statement of its own: the transaction-level locks stay until the transaction
-- ends.
CREATE OR REPLACE FUNCTION lockstep.lock_shared(phase_id bigint, wait_ms int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    class CONSTANT int := lockstep.lock_class('phase');
    a CONSTANT int := lockstep.phase_key(phase_id, 0);
    b CONSTANT int := lockstep.phase_key(phase_id, 1);
    slice_ms CONSTANT int := LEAST(500, GREATEST(1, wait_ms));
    start CONSTANT timestamptz := pg_catalog.clock_timestamp();
    old_timeout CONSTANT text := pg_catalog.current_setting('lock_timeout');
BEGIN
    BEGIN
        PERFORM pg_catalog.set_config('lock_timeout', slice_ms::text, true);
        PERFORM pg_catalog.pg_advisory_xact_lock_shared(class, a);
        -- lock_timeout counts each wait by itself: the second one gets what the first has left
        PERFORM pg_catalog.set_config('lock_timeout', GREATEST(1, slice_ms - LEAST(slice_ms, (1000
            * EXTRACT(epoch FROM pg_catalog.clock_timestamp() - start))))::int::text, true);
        PERFORM pg_catalog.pg_advisory_xact_lock(class, b);
        PERFORM pg_catalog.set_config('lock_timeout', old_timeout, true);
    EXCEPTION
        WHEN lock_not_available THEN -- the subtransaction took the locks and the setting back; nothing is logged
            RETURN false;
    END;
    PERFORM pg_catalog.pg_advisory_lock_shared(class, a);
    RETURN true;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_shared(bigint, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_shared(bigint, int) TO lockstep_executor;
