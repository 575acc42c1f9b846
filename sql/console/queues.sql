-- console_queues :one  $1 queues behind the name $2, by name; rejected is counted to 10,000; executors: those that work
-- for the queue (null: it cannot be seen here)
-- columns: document
WITH page AS MATERIALIZED (
    SELECT b.queue_id, b.name
    FROM lockstep.queue b WHERE b.name > COALESCE($2::text, '') ORDER BY b.name LIMIT $1::bigint),
slots AS MATERIALIZED (
    SELECT s.queue_id, count(*) AS in_use
    FROM lockstep.slot s
    WHERE s.slot_id = ANY (ARRAY(SELECT l.objid::bigint::int
                                 FROM pg_catalog.pg_locks l
                                 WHERE l.locktype = 'advisory' AND l.classid = lockstep.lock_class('slot')::oid
                                   AND l.objsubid = 2 AND l.granted AND l.mode = 'ExclusiveLock'
                                   AND l.database = (
                                       SELECT d.oid
                                       FROM pg_catalog.pg_database d WHERE d.datname = current_database())))
    GROUP BY s.queue_id)
SELECT lockstep.page((SELECT json_agg(i ORDER BY i.name)
                      FROM (SELECT q.name, q.name AS queue, q.topic, q.partition, q.next_offset, q.max_readers,
                                   COALESCE(s.in_use, 0) AS in_use, q.on_failure, q.runs,
                                   CASE WHEN q.halted_at IS NOT NULL THEN 'halted'
                                        WHEN q.paused THEN 'paused' ELSE 'open' END AS state,
                                   (SELECT count(*)
                                    FROM (SELECT FROM lockstep.run r
                                          WHERE r.queue_id = q.queue_id AND r.ended_at IS NULL
                                          LIMIT 10001) r) AS active_runs,
                                   (SELECT count(*)
                                    FROM (SELECT FROM lockstep.rejected_message m
                                          WHERE m.queue_id = q.queue_id LIMIT 10001) m) AS rejected,
                                   q.halted_reason, q.halted_detail, lockstep.queue_lag(q.name, q.next_offset) AS lag,
                                   x.working AS executors
                            FROM lockstep.queue q
                            LEFT JOIN slots s USING (queue_id)
                            JOIN lockstep.executors_by_queue(ARRAY(SELECT p.name FROM page p)) x ON x.queue = q.name
                            WHERE q.queue_id = ANY (ARRAY(SELECT p.queue_id FROM page p))) i),
                     (SELECT 'queues.' || max(name) FROM page HAVING count(*) = $1::bigint),
                     (SELECT count(*) FROM (SELECT FROM lockstep.queue q LIMIT 10001) c)) AS document;
