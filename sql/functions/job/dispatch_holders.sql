-- The sessions that hold the lock of dispatch, and whether each is a dispatcher. Any login that may call
-- pg_advisory_lock can take it; a dispatcher is known by its login and its application name.
CREATE OR REPLACE FUNCTION lockstep.dispatch_holders() RETURNS TABLE (pid int, login name, is_dispatcher boolean)
LANGUAGE sql STABLE AS $$
    SELECT l.pid, a.usename, COALESCE(a.application_name IN ('lockstep/dispatcher', 'lockstep/cli')
                                      AND pg_catalog.pg_has_role(a.usesysid, 'lockstep_executor', 'MEMBER'), false)
    FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
      AND l.classid = lockstep.lock_class('dispatch')::oid AND l.objid = 0
      AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_holders() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_holders()
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
