-- Slots within the bound that nobody holds and that cannot be taken yet, because the backend which their dead executor's
-- reader used is still there. Nobody tells when it ends: who is short of slots and sees ghosts comes again soon.
CREATE OR REPLACE FUNCTION lockstep.slot_ghosts(p_queue_id int) RETURNS int LANGUAGE sql AS $$
    SELECT pg_catalog.count(*)::int
    FROM lockstep.slot s JOIN lockstep.queue q USING (queue_id)
    WHERE s.queue_id = p_queue_id AND s.slot_no <= q.max_readers AND s.pid IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_locks l
            WHERE l.locktype = 'advisory' AND l.classid::bigint = lockstep.lock_class('slot') AND l.objid::bigint = s.slot_id
                AND l.objsubid = 2 AND l.mode = 'ExclusiveLock' AND l.granted
                AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()))
        AND lockstep.slot_backend_lives(s.pid, s.backend_start)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.slot_ghosts(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.slot_ghosts(int) TO lockstep_executor, lockstep_operator, lockstep_monitor;
