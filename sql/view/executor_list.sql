-- view_executor_list :many  the executors that have not ended, one row each
-- columns: executor_id, host, pid, version, queues, readers, in_use, started_at, heartbeat_at, alive, readers_limit,
--          drain_by, trouble, trouble_at, state, memory_bytes
SELECT x.executor_id, x.host, x.pid, x.version, x.queues, x.readers, x.in_use, x.started_at, x.heartbeat_at, x.alive,
       x.readers_limit, x.drain_by, x.trouble, x.trouble_at,
       CASE WHEN NOT x.alive THEN 'gone'
            WHEN x.heartbeat_at < clock_timestamp() - x.frozen_after THEN 'frozen'
            WHEN x.trouble_kind = 'login' THEN 'no login'
            WHEN x.trouble_kind = 'writes' THEN 'no writes'
            WHEN x.trouble_kind = 'kafka' THEN 'no Kafka'
            WHEN x.drain_by IS NOT NULL THEN 'draining' ELSE COALESCE(x.signalled, 'ok') END AS state,
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
    LEFT JOIN LATERAL (
        SELECT string_agg(format('queue %s: %s', n.queue, n.trouble), '; ' ORDER BY n.place) AS words, min(n.at) AS at
        FROM unnest(e.queues, e.queue_trouble, e.queue_trouble_at) WITH ORDINALITY AS n (queue, trouble, at, place)
        WHERE n.trouble IS NOT NULL AND e.trouble_kind IS DISTINCT FROM 'kafka') AS t ON true
    WHERE e.ended_at IS NULL) AS x
ORDER BY x.executor_no;
