-- console_executors :one  $1 executors that have not ended, behind number $2
-- columns: document
WITH locks AS MATERIALIZED (
    SELECT l.classid, l.objid::bigint::int AS no
    FROM pg_catalog.pg_locks l
    WHERE l.locktype = 'advisory'
      AND l.classid IN (lockstep.lock_class('executor')::oid, lockstep.lock_class('slot')::oid) AND l.objsubid = 2
      AND l.granted AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database())),
busy AS MATERIALIZED (
    SELECT s.executor_no, count(*) AS in_use
    FROM lockstep.slot s
    WHERE s.slot_id = ANY (ARRAY(SELECT l.no FROM locks l WHERE l.classid = lockstep.lock_class('slot')::oid))
    GROUP BY s.executor_no),
page AS MATERIALIZED (
    SELECT e.executor_no, e.executor_id, e.host, e.pid, e.version, e.queues, e.readers, e.started_at, e.heartbeat_at,
           e.readers_limit, e.drain_by, e.drain_at, NULLIF(concat_ws('; ', e.trouble, t.words), '') AS trouble,
           LEAST(e.trouble_at, t.at) AS trouble_at, e.trouble_kind, e.frozen_after,
           e.memory_bytes, e.signalled,
           e.executor_no = ANY (ARRAY(SELECT l.no
                                      FROM locks l WHERE l.classid = lockstep.lock_class('executor')::oid)) AS alive
    FROM lockstep.executor e
    CROSS JOIN LATERAL lockstep.topics_trouble(p_queues => e.queues, p_queue_trouble => e.queue_trouble,
                                               p_queue_trouble_at => e.queue_trouble_at,
                                               p_trouble_kind => e.trouble_kind) AS t
    WHERE e.ended_at IS NULL AND e.executor_no > COALESCE($2::bigint, 0) ORDER BY e.executor_no LIMIT $1::bigint)
SELECT lockstep.page(
           (SELECT json_agg(json_build_object(
                                'executor_id', p.executor_id, 'host', p.host, 'pid', p.pid, 'version', p.version,
                                'queues', p.queues, 'readers', p.readers, 'readers_limit', p.readers_limit,
                                'in_use', COALESCE(b.in_use, 0), 'started_at', p.started_at,
                                'heartbeat_at', p.heartbeat_at, 'alive', p.alive, 'drain_by', p.drain_by,
                                'drain_at', p.drain_at, 'memory_bytes', p.memory_bytes, 'trouble', p.trouble,
                                'trouble_at', p.trouble_at,
                                'state', lockstep.executor_state(
                                    p_alive => p.alive, p_heartbeat_at => p.heartbeat_at,
                                    p_frozen_after => p.frozen_after, p_trouble_kind => p.trouble_kind,
                                    p_drain_by => p.drain_by, p_signalled => p.signalled))
                            ORDER BY p.executor_no)
            FROM page p LEFT JOIN busy b USING (executor_no)),
           (SELECT 'executors.' || max(executor_no) FROM page HAVING count(*) = $1::bigint),
           (SELECT count(*) FROM (SELECT FROM lockstep.executor e WHERE e.ended_at IS NULL LIMIT 10001) c)) AS document;
