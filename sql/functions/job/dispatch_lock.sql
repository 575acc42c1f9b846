-- Acquires the lock of dispatch for this session, if no session has it. granted: this session has it.
CREATE OR REPLACE FUNCTION lockstep.dispatch_lock() RETURNS boolean LANGUAGE sql AS $$
    SELECT pg_catalog.pg_try_advisory_lock(lockstep.lock_class('dispatch'), 0)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_lock() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_lock() TO lockstep_executor;
