-- Each queue's readers, by executor: how many slots it has. Promised to users: a column keeps its name and meaning; new
-- ones go to the end.
CREATE OR REPLACE VIEW lockstep.reader_status AS
WITH held AS (
    SELECT s.queue_id, s.executor_no, count(*) AS in_use
    FROM lockstep.slot s
    JOIN pg_catalog.pg_locks l ON l.locktype = 'advisory' AND l.classid = lockstep.lock_class('slot')::oid
         AND l.objid = s.slot_id::oid AND l.objsubid = 2 AND l.granted AND l.mode = 'ExclusiveLock'
         AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
    GROUP BY s.queue_id, s.executor_no)
SELECT q.name AS queue, q.max_readers, COALESCE(h.in_use, 0) AS in_use, e.executor_id, e.host, e.pid, e.readers,
       e.heartbeat_at, e.executor_no, e.started_at, e.version,
       e.ends[pg_catalog.array_position(e.queues, q.name)] AS topic_end, e.memory_bytes
FROM lockstep.queue q
LEFT JOIN lockstep.executor e ON e.ended_at IS NULL AND q.name = ANY (e.queues)
LEFT JOIN held h ON h.queue_id = q.queue_id AND h.executor_no = e.executor_no;
GRANT SELECT ON lockstep.reader_status TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
