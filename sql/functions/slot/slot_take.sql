-- Gives the readers of an executor free slots of its queue, one each, as many as there are; the answer is the slot
-- numbers, in the order of the readers, fewer than wanted or none. A slot is an exclusive advisory lock of the calling
-- (control) session and a row that names the reader's backend. Run it as a statement of its own, before the readers
-- start a task.
--   The lock alone is not enough: the lock of a killed executor is free at once, while its reader's statement may run
--   on to its end. So a slot whose row names a backend that still exists is not assigned. A release clears the row
--   first.
--   Statement order matters: lock, then read the row (a new snapshot: the last holder's row is committed, or its holder
--   never ran), then check the backend (not in a copy of pg_stat_activity made earlier in this transaction).
--   Advisory locks are re-entrant: slots that this session has already are left out by pg_locks, not by their rows.
-- max_readers is read without a lock: a bound that is lowered at the same moment is the same as one that is lowered a
-- moment later; an executor that holds a slot beyond the bound releases it when its task is finished.
-- Fewer than wanted: register (slot_wait) and try again; all: the registration is deleted.
CREATE OR REPLACE FUNCTION lockstep.slot_take(p_queue_id int, p_executor_no int, p_pids int[], p_starts timestamptz[])
RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    class CONSTANT int := lockstep.lock_class('slot');
    wanted CONSTANT int := pg_catalog.cardinality(p_pids);
    bound CONSTANT int := (SELECT q.max_readers FROM lockstep.queue q WHERE q.queue_id = p_queue_id);
    taken int[] := '{}';
    locked int[] := '{}';
    mine bigint[];
    candidate record;
    named record;
BEGIN
    IF bound > (SELECT pg_catalog.count(*)
                FROM lockstep.slot s WHERE s.queue_id = p_queue_id AND s.slot_no <= bound) THEN
        INSERT INTO lockstep.slot (queue_id, slot_no) -- ascending, so that two who do it at once cannot deadlock
        SELECT p_queue_id, n FROM pg_catalog.generate_series(1, bound) AS n ORDER BY n
        ON CONFLICT (queue_id, slot_no) DO NOTHING;
    END IF;
    mine := ARRAY(SELECT l.objid::bigint FROM pg_catalog.pg_locks l
                  WHERE l.locktype = 'advisory' AND l.classid::bigint = class AND l.objsubid = 2
                      AND l.pid = pg_catalog.pg_backend_pid());
    FOR candidate IN -- released ones first: a named one is in use, or was its executor's when it died
        SELECT s.slot_id, s.slot_no FROM lockstep.slot s
        WHERE s.queue_id = p_queue_id AND s.slot_no <= bound AND s.slot_id <> ALL (mine)
        ORDER BY s.pid IS NOT NULL, s.slot_no
    LOOP
        EXIT WHEN pg_catalog.cardinality(taken) >= wanted;
        CONTINUE WHEN NOT pg_catalog.pg_try_advisory_lock(class, candidate.slot_id);
        locked := locked || candidate.slot_id;
        SELECT s.pid, s.backend_start INTO named FROM lockstep.slot s WHERE s.slot_id = candidate.slot_id;
        IF named.pid IS NOT NULL AND lockstep.slot_backend_lives(named.pid, named.backend_start) THEN
            PERFORM pg_catalog.pg_advisory_unlock(class, candidate.slot_id);
            locked := pg_catalog.array_remove(locked, candidate.slot_id);
            CONTINUE;
        END IF;
        taken := taken || candidate.slot_no;
        UPDATE lockstep.slot SET executor_no = p_executor_no, pid = p_pids[pg_catalog.cardinality(taken)],
            backend_start = p_starts[pg_catalog.cardinality(taken)], taken_at = pg_catalog.clock_timestamp()
        WHERE slot_id = candidate.slot_id;
    END LOOP;
    IF pg_catalog.cardinality(taken) >= wanted THEN
        DELETE FROM lockstep.slot_waiter w WHERE w.queue_id = p_queue_id AND w.executor_no = p_executor_no;
    END IF;
    RETURN taken;
EXCEPTION
    WHEN OTHERS OR query_canceled THEN -- session-level locks survive the rollback; the rows do not
        PERFORM pg_catalog.pg_advisory_unlock(class, l) FROM pg_catalog.unnest(locked) AS l;
        RAISE;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.slot_take(int, int, int[], timestamptz[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.slot_take(int, int, int[], timestamptz[]) TO lockstep_executor;
