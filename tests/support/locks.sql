-- Both halves of a lock of a phase in one call, taking and keeping, for tests. Lockstep itself takes a lock with
-- lock_shared_xact or lock_intent_xact and keeps it at the end of the same transaction; it only tries S and never waits
-- for S. false: not granted, nothing is held.
CREATE SCHEMA lockstep_test;

-- S, with a wait of at most wait_ms (1 to 500: one slice; the caller loops). As lock_intent_xact: wait at transaction
-- level, keep at session level. The transaction-level locks stay until the transaction ends, so this is a statement of
-- its own.
CREATE FUNCTION lockstep_test.lock_shared(phase_id bigint, wait_ms int) RETURNS boolean LANGUAGE plpgsql AS $$
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

-- S at session level, without a wait.
CREATE FUNCTION lockstep_test.lock_shared_try(phase_id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT lockstep.lock_shared_xact(phase_id) THEN
        RETURN false;
    END IF;
    PERFORM lockstep.keep_shared(phase_id);
    RETURN true;
END
$$;

-- IX at session level, with a wait of at most wait_ms.
CREATE FUNCTION lockstep_test.lock_intent(phase_id bigint, wait_ms int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT lockstep.lock_intent_xact(phase_id, GREATEST(1, wait_ms)) THEN
        RETURN false;
    END IF;
    PERFORM lockstep.keep_intent(phase_id);
    RETURN true;
END
$$;
