-- Slots within the bound that still name a dead executor's reader. Nobody tells when its backend ends: who is short of slots
-- and sees ghosts comes again soon. The slot's own lock is not asked for (whoever tries the slot has it for a moment), nor
-- the backend (it may have ended since the slot was refused): the look would come too late, and nobody would come again.
CREATE OR REPLACE FUNCTION lockstep.slot_ghosts(p_queue_id int) RETURNS int LANGUAGE sql AS $$
    SELECT pg_catalog.count(*)::int
    FROM lockstep.slot s JOIN lockstep.queue q USING (queue_id)
    WHERE s.queue_id = p_queue_id AND s.slot_no <= q.max_readers AND s.pid IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM pg_catalog.pg_locks l
            WHERE l.locktype = 'advisory' AND l.classid::bigint = lockstep.lock_class('executor')
                AND l.objid::bigint = s.executor_no AND l.objsubid = 2 AND l.mode = 'ExclusiveLock' AND l.granted
                AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()))
$$;
REVOKE EXECUTE ON FUNCTION lockstep.slot_ghosts(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.slot_ghosts(int) TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
