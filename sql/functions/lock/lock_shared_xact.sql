-- Acquires S of a phase until the end of this transaction, without a wait: for the claim, which holds the row of its
-- queue. The caller keeps the lock (lockstep.keep_shared) as its last act: a failure before that leaves no lock behind,
-- so the call is simply repeated.
--   A shared, B exclusive, B released. B is released at once, not at the end of the transaction, which may take long.
-- If B is not free there are two cases, and this function distinguishes them. A holder of IX has B shared, so S is
-- refused. Another session that acquires S has B exclusive for a moment, so S is granted: this session has A, and no
-- session acquires IX while it does.
CREATE OR REPLACE FUNCTION lockstep.lock_shared_xact(phase_id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    class CONSTANT int := lockstep.lock_class('phase');
    b CONSTANT int := lockstep.phase_key(phase_id, 1);
    has_b boolean := false;
BEGIN
    IF NOT pg_catalog.pg_try_advisory_xact_lock_shared(class, lockstep.phase_key(phase_id, 0)) THEN
        RETURN false;
    END IF;
    has_b := pg_catalog.pg_try_advisory_lock(class, b);
    IF has_b THEN
        has_b := NOT pg_catalog.pg_advisory_unlock(class, b);
        RETURN true;
    END IF;
    RETURN NOT EXISTS (
        SELECT FROM pg_catalog.pg_locks l
        WHERE l.locktype = 'advisory' AND l.classid::bigint = class AND l.objid::bigint = (b & 4294967295)
          AND l.objsubid = 2 AND l.mode = 'ShareLock' AND l.granted AND l.pid <> pg_catalog.pg_backend_pid()
          AND l.database = (SELECT d.oid
                            FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()));
EXCEPTION
    WHEN OTHERS OR query_canceled THEN -- a cancel between acquiring and releasing B; A goes with the subtransaction
        IF has_b THEN
            PERFORM pg_catalog.pg_advisory_unlock(class, b);
        END IF;
        RAISE;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_shared_xact(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_shared_xact(bigint) TO lockstep_executor;
