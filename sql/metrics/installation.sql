-- metrics_installation :many  the numbers of the installation, but for those of jobs; those of a metric one behind the
-- other
-- columns: metric, first, second, value
WITH outbox AS MATERIALIZED (
    SELECT q.name AS queue, o.waiting, o.age
    FROM lockstep.queue q
    CROSS JOIN LATERAL (
        SELECT count(*) AS waiting,
               COALESCE(round(extract(epoch FROM clock_timestamp() - min(b.created_at))::numeric, 3), 0) AS age
        FROM (SELECT r.created_at FROM lockstep.outbox r WHERE r.queue_id = q.queue_id
              ORDER BY r.queue_id, r.kind, r.relay_seq LIMIT 1000) b) o),
enqueued AS MATERIALIZED (
    SELECT q.name AS queue, o.waiting, o.age
    FROM lockstep.queue q
    CROSS JOIN LATERAL (
        SELECT count(*) AS waiting,
               COALESCE(round(extract(epoch FROM clock_timestamp() - min(b.enqueued_at))::numeric, 3), 0) AS age
        FROM (SELECT r.enqueued_at FROM lockstep.enqueued r WHERE r.queue_id = q.queue_id
              ORDER BY r.queue_id, r.enqueue_id LIMIT 1000) b) o)
SELECT 'cursor' AS metric, q.name AS first, NULL::text AS second, q.next_offset::text AS value FROM lockstep.queue q
UNION ALL
-- Also those of which there was none: Prometheus sees the first one only as a change from 0.
SELECT 'lockstep_runs_total', q.name, s.status, COALESCE(c.runs, 0)::text
FROM lockstep.queue q
CROSS JOIN (VALUES ('Completed'), ('PartiallyCompleted'), ('Failed'), ('Cancelled')) s (status)
LEFT JOIN lockstep.run_count c ON c.queue_id = q.queue_id AND c.status = s.status
UNION ALL
SELECT 'lockstep_runs_open', q.name, r.status, r.runs::text
FROM lockstep.queue q
CROSS JOIN LATERAL (
    SELECT w.status, count(*) AS runs
    FROM lockstep.run b
    CROSS JOIN LATERAL (SELECT lockstep.run_state(b.status, b.published_at) AS status) w
    WHERE b.queue_id = q.queue_id AND b.ended_at IS NULL GROUP BY w.status) r
UNION ALL
SELECT 'lockstep_readers', q.name, k.kind, k.readers::text
FROM lockstep.queue q
LEFT JOIN (SELECT s.queue_id, count(*) AS in_use
           FROM lockstep.slot s
           WHERE s.slot_id = ANY (ARRAY(
                                      SELECT l.objid::bigint::int
                                      FROM pg_catalog.pg_locks l
                                      WHERE l.locktype = 'advisory' AND l.classid = lockstep.lock_class('slot')::oid
                                        AND l.objsubid = 2 AND l.granted AND l.mode = 'ExclusiveLock'
                                        AND l.database = (
                                            SELECT d.oid
                                            FROM pg_catalog.pg_database d WHERE d.datname = current_database())))
           GROUP BY s.queue_id) u USING (queue_id)
CROSS JOIN LATERAL (VALUES ('target', q.max_readers::bigint), ('in_use', COALESCE(u.in_use, 0))) k (kind, readers)
UNION ALL
SELECT 'lockstep_oldest_waiting_seconds', q.name, NULL,
       COALESCE(round(extract(epoch FROM clock_timestamp() - (
           SELECT p.claimed_at FROM lockstep.phase p WHERE p.queue_id = q.queue_id AND p.done_at IS NULL
           ORDER BY p.run_no, p."order" LIMIT 1))::numeric, 3), 0)::text
FROM lockstep.queue q
UNION ALL
SELECT 'lockstep_queue_state', q.name, k.state,
       (k.state = CASE WHEN q.halted_reason IS NOT NULL THEN 'halted'
                       WHEN q.paused THEN 'paused' ELSE 'running' END)::int::text
FROM lockstep.queue q CROSS JOIN LATERAL (VALUES ('running'), ('paused'), ('halted')) k (state)
UNION ALL
SELECT 'lockstep_executors', q.name, k.state, count(e.executor_no)::text
FROM lockstep.queue q
CROSS JOIN LATERAL (VALUES ('running'), ('held'), ('draining'), ('troubled'), ('silent')) k (state)
LEFT JOIN LATERAL (
    -- as in executor_list
    SELECT x.executor_no,
           CASE WHEN x.heartbeat_at < clock_timestamp() - x.frozen_after THEN 'silent'
                WHEN lockstep.is_troubled(x.trouble, x.trouble_kind,
                                          x.queue_trouble[array_position(x.queues, q.name)]) THEN 'troubled'
                WHEN x.drain_at IS NOT NULL OR x.signalled = 'draining' THEN 'draining'
                WHEN x.signalled = 'held' THEN 'held' ELSE 'running' END AS state
    FROM lockstep.executor x WHERE x.ended_at IS NULL AND q.name = ANY (x.queues)) e ON e.state = k.state
GROUP BY q.name, k.state
UNION ALL
SELECT 'lockstep_outbox_rows', o.queue, NULL, o.waiting::text FROM outbox o
UNION ALL
SELECT 'lockstep_outbox_oldest_seconds', o.queue, NULL, o.age::text FROM outbox o
UNION ALL
SELECT 'lockstep_enqueued_runs', e.queue, NULL, e.waiting::text FROM enqueued e
UNION ALL
SELECT 'lockstep_enqueued_oldest_seconds', e.queue, NULL, e.age::text FROM enqueued e
UNION ALL
SELECT 'lockstep_lock_headroom_ratio', NULL, NULL, round(GREATEST(0, 1 - h.used::numeric / h.capacity), 6)::text
FROM lockstep.lock_headroom() h
UNION ALL
SELECT 'lockstep_alerts_open', k.kind, NULL, a.open::text
FROM (VALUES ('missed'), ('stuck'), ('failed'), ('late'), ('never'), ('blocked'), ('absent')) k (kind)
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE b.kind = k.kind) AS open FROM lockstep.alert b WHERE b.closed_at IS NULL) a
UNION ALL
SELECT 'lockstep_alert_notices_undelivered', r.receiver, NULL, r.undelivered::text FROM lockstep.alert_receiver r
UNION ALL
SELECT 'lockstep_monitors', k.state, NULL, count(o.monitor)::text
FROM (VALUES ('alive'), ('silent'), ('ended')) k (state)
LEFT JOIN lockstep.monitor_status o
     ON k.state = CASE WHEN o.ended_at IS NOT NULL THEN 'ended' WHEN o.is_alive THEN 'alive' ELSE 'silent' END
GROUP BY k.state
UNION ALL
SELECT 'lockstep_monitor_last_look_timestamp_seconds', NULL, NULL,
       round(extract(epoch FROM m.looked_at)::numeric, 3)::text
FROM (SELECT max(o.looked_at) AS looked_at FROM lockstep.monitor_status o) m WHERE m.looked_at IS NOT NULL;
