-- Sessions that hold locks of this class, and are no executor's: only executors take these. A shared lock of an
-- executor does no harm: it is that of a session that asks whether the executor lives (executor_lives).
CREATE OR REPLACE FUNCTION lockstep.lock_strangers(p_class text) RETURNS TABLE (pid int, key bigint)
LANGUAGE sql STABLE AS $$
    SELECT DISTINCT k.pid, k.objid::bigint
    FROM pg_catalog.pg_locks k
    WHERE k.locktype = 'advisory' AND k.objsubid = 2 AND k.granted AND k.pid IS NOT NULL
      AND k.classid = lockstep.lock_class(p_class)::oid
      AND (p_class <> 'executor' OR k.mode = 'ExclusiveLock')
      AND k.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())
      AND k.pid NOT IN (SELECT s.pid
                        FROM lockstep.executor_session s JOIN pg_catalog.pg_stat_activity a USING (pid)
                        WHERE a.backend_start IS NULL OR a.backend_start = s.backend_start)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_strangers(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_strangers(text)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
