-- Takes S of a phase at session level without waiting at all: for the claim, which holds the row of its queue.
--   A shared, B exclusive, B given back. B is given back at once, not at the end of the transaction, which may take long.
-- B not being free has two reasons, and they are told apart: an IX holder has it shared, so S is refused; another S passes
-- through and has it exclusive for a moment, so S is granted: we have A, and nobody gets IX while we have A.
-- An error leaves nothing locked, with one exception: one that hits after the return (a cancel). Then drop the session.
CREATE OR REPLACE FUNCTION lockstep.lock_shared_try(phase_id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    class CONSTANT int := lockstep.lock_class('phase');
    a CONSTANT int := lockstep.phase_key(phase_id, 0);
    b CONSTANT int := lockstep.phase_key(phase_id, 1);
    has_a boolean := false;
    has_b boolean := false;
BEGIN
    has_a := pg_catalog.pg_try_advisory_lock_shared(class, a);
    IF NOT has_a THEN
        RETURN false;
    END IF;
    has_b := pg_catalog.pg_try_advisory_lock(class, b);
    IF has_b THEN
        has_b := NOT pg_catalog.pg_advisory_unlock(class, b);
        RETURN true;
    END IF;
    IF NOT EXISTS (
        SELECT FROM pg_catalog.pg_locks l
        WHERE l.locktype = 'advisory' AND l.classid::bigint = class AND l.objid::bigint = (b & 4294967295) AND l.objsubid = 2
            AND l.mode = 'ShareLock' AND l.granted AND l.pid <> pg_catalog.pg_backend_pid()
            AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())) THEN
        RETURN true;
    END IF;
    has_a := NOT pg_catalog.pg_advisory_unlock_shared(class, a);
    RETURN false;
EXCEPTION
    WHEN OTHERS OR query_canceled THEN -- a full lock table (53200) between A and B, a cancel
        IF has_b THEN
            PERFORM pg_catalog.pg_advisory_unlock(class, b);
        END IF;
        IF has_a THEN
            PERFORM pg_catalog.pg_advisory_unlock_shared(class, a);
        END IF;
        RAISE;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_shared_try(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_shared_try(bigint) TO lockstep_executor;
