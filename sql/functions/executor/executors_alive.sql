-- The numbers of the executors that live, which is whether their liveness lock is held: read from pg_locks once,
-- without taking a lock; executor_lives asks of a single one. NULL: a standby does not see the locks.
CREATE OR REPLACE FUNCTION lockstep.executors_alive() RETURNS int[] LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN NOT lockstep.explain_blind()
                    THEN ARRAY(SELECT l.objid::bigint::int
                               FROM pg_catalog.pg_locks l
                               WHERE l.locktype = 'advisory' AND l.classid = lockstep.lock_class('executor')::oid
                                 AND l.objsubid = 2 AND l.granted AND l.mode = 'ExclusiveLock'
                                 AND l.database = (
                                     SELECT d.oid
                                     FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())) END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.executors_alive() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.executors_alive() TO lockstep_operator, lockstep_monitor;
