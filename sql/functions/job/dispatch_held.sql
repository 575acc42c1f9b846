-- Sessions that hold the lock of dispatch and are no dispatcher: while one does, no job fires. Any login that may call pg_advisory_lock can take it; whether it is one of
-- Lockstep's is seen by its login and by what it says it is.
CREATE OR REPLACE FUNCTION lockstep.dispatch_held() RETURNS TABLE (pid int, is text) LANGUAGE sql STABLE AS $$
    SELECT l.pid, s.is
    FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_stat_activity a USING (pid) LEFT JOIN LATERAL lockstep.explain_session(l.pid) s ON true
    WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND l.classid = lockstep.lock_class('dispatch')::oid AND l.objid = 0 AND l.pid <> pg_catalog.pg_backend_pid()
      AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())
      AND NOT COALESCE(a.application_name IN ('lockstep/dispatcher', 'lockstep/cli') AND pg_catalog.pg_has_role(a.usesysid, 'lockstep_executor', 'MEMBER'), false)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_held() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_held() TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
