-- view_executor_list :many  the executors that have not ended, one row each
-- columns: executor_id, host, pid, version, queues, readers, in_use, started_at, heartbeat_at, alive, readers_limit,
--          drain_by, trouble, trouble_at, state, memory_bytes
SELECT x.executor_id, x.host, x.pid, x.version, x.queues, x.readers, x.in_use, x.started_at, x.heartbeat_at, x.alive,
       x.readers_limit, x.drain_by, x.trouble, x.trouble_at,
       lockstep.executor_state(p_alive => x.alive, p_heartbeat_at => x.heartbeat_at, p_frozen_after => x.frozen_after,
                               p_trouble_kind => x.trouble_kind, p_drain_by => x.drain_by,
                               p_signalled => x.signalled) AS state,
       x.memory_bytes
FROM (
    SELECT e.executor_no, e.executor_id, e.host, e.pid, e.version, array_to_string(e.queues, ',') AS queues, e.readers,
           COALESCE((SELECT sum(r.in_use) FROM lockstep.reader_status r WHERE r.executor_no = e.executor_no),
                    0) AS in_use,
           e.started_at, e.heartbeat_at, e.frozen_after,
           EXISTS (SELECT FROM pg_catalog.pg_locks l
                   WHERE l.locktype = 'advisory' AND l.classid = lockstep.lock_class('executor')::oid
                     AND l.objid = e.executor_no::oid AND l.objsubid = 2 AND l.granted
                     AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d
                                       WHERE d.datname = current_database())) AS alive,
           e.readers_limit, e.drain_by, NULLIF(concat_ws('; ', e.trouble, t.words), '') AS trouble,
           LEAST(e.trouble_at, t.at) AS trouble_at, e.trouble_kind, e.memory_bytes, e.signalled
    FROM lockstep.executor e
    CROSS JOIN LATERAL lockstep.topics_trouble(p_queues => e.queues, p_queue_trouble => e.queue_trouble,
                                               p_queue_trouble_at => e.queue_trouble_at,
                                               p_trouble_kind => e.trouble_kind) AS t
    WHERE e.ended_at IS NULL) AS x
ORDER BY x.executor_no;
