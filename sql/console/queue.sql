-- console_queue :maybe  queue $1, with the rows that wait and the rows that are kept; rejected and outbox are counted
-- to 10,000; executors: those that work for it (null: unknown on this server)
-- columns: document
SELECT (SELECT json_build_object('queue', i)
        FROM (
            SELECT q.name AS queue, q.name,
                   CASE WHEN q.halted_at IS NOT NULL THEN 'halted'
                        WHEN q.paused THEN 'paused' ELSE 'open' END AS status,
                   q.topic, q.partition, q.partitions, q.next_offset, q.next_offset AS cursor,
                   lockstep.queue_lag(q.name, q.next_offset) AS lag, q.max_readers,
                   (SELECT count(*)
                    FROM lockstep.slot s
                    WHERE s.queue_id = q.queue_id
                      AND s.slot_id = ANY (
                          ARRAY(
                              SELECT l.objid::bigint::int
                              FROM pg_catalog.pg_locks l
                              WHERE l.locktype = 'advisory' AND l.classid = lockstep.lock_class('slot')::oid
                                AND l.objsubid = 2 AND l.granted AND l.mode = 'ExclusiveLock'
                                AND l.database = (SELECT d.oid
                                                  FROM pg_catalog.pg_database d
                                                  WHERE d.datname = current_database())))) AS in_use,
                   q.on_failure, q.runs, COALESCE(q.max_attempts, q.default_attempts, 3) AS max_attempts,
                   array_to_string(q.retry_intervals, ',') AS retry_intervals,
                   array_to_string(q.retry_on, ',') AS retry_on, q.lookahead, q.max_lost,
                   lockstep.seconds(q.external_lease) AS external_lease_s, q.dead_letters, q.events, q.paused,
                   q.paused_by, q.paused_at,
                   CASE WHEN q.paused
                            THEN (SELECT l.detail
                                  FROM lockstep.event_log l
                                  WHERE l.queue_id = q.queue_id AND l.run_no IS NULL AND l.event = 'queue_paused'
                                  ORDER BY l.at DESC LIMIT 1) END AS paused_reason,
                   q.halted_reason, q.halted_detail, lockstep.halt_remedy(q.queue_id) AS halted_remedy, q.halted_at,
                   q.cluster_id, q.mark AS birthmark, q.blocked_offset, q.blocked_at,
                   (SELECT count(*)
                    FROM (SELECT FROM lockstep.run r
                          WHERE r.queue_id = q.queue_id AND r.ended_at IS NULL LIMIT 10001) r) AS active_runs,
                   (SELECT count(*)
                    FROM (SELECT FROM lockstep.rejected_message m
                          WHERE m.queue_id = q.queue_id LIMIT 10001) m) AS rejected,
                   (SELECT count(*)
                    FROM (SELECT FROM lockstep.outbox o WHERE o.queue_id = q.queue_id LIMIT 10001) o) AS outbox,
                   (SELECT count(*)
                    FROM (SELECT FROM lockstep.enqueued e WHERE e.queue_id = q.queue_id LIMIT 10001) e) AS enqueued,
                   (SELECT string_agg(r.trouble, '; ' ORDER BY r.kind)
                    FROM lockstep.relay r WHERE r.queue_id = q.queue_id) AS outbox_trouble,
                   lockstep.keep_words(p_runs => q.keep_runs, p_days => q.keep_days,
                                       p_failed_days => q.keep_failed_days, p_set_by => q.keep_set_by) AS kept,
                   t.swept_at, t.detail AS swept_detail,
                   (SELECT x.working FROM lockstep.executors_by_queue(ARRAY[q.name]) x) AS executors, q.created_at,
                   q.updated_at
            FROM lockstep.queue q LEFT JOIN lockstep.retention t USING (queue_id)
            WHERE q.queue_id = n.queue_id) i) AS document
FROM (SELECT b.queue_id FROM lockstep.queue b WHERE b.name = $1::text) n;
