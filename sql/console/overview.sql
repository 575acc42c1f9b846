-- console_overview :one  every queue at a glance, the open alerts, and the next times of jobs; if $1 with the texts of
-- errors. The counts of a queue are of the run that has been open for longest, and of so few rows that many queues cost
-- little: of its phases that are not done the last tasks (counted_all: these are all of them), of its events those
-- since it was reopened. throughput and barrier_ms have a number a minute, the newest last, from the newest 100 phases
-- of the newest 20 runs (fewer with more than 20 queues; null: before them): a phase's tasks are spread over the time
-- that it was open; barrier_ms, of the last phase that opened in the minute, is from the last end among the last 64
-- tasks of the phase before to the first start among its first 16. executors: those that work for the queue (null:
-- unknown on this server); active: a run of it has not ended; troubles: the reasons that stop it, of ten queues at
-- most, those first that do nothing; if $1 with the texts of errors
-- columns: document
WITH slots AS MATERIALIZED (
    SELECT s.queue_id, count(*) AS in_use
    FROM lockstep.slot s
    WHERE s.slot_id = ANY (ARRAY(SELECT l.objid::bigint::int
                                 FROM pg_catalog.pg_locks l
                                 WHERE l.locktype = 'advisory' AND l.classid = lockstep.lock_class('slot')::oid
                                   AND l.objsubid = 2 AND l.granted AND l.mode = 'ExclusiveLock'
                                   AND l.database = (
                                       SELECT d.oid
                                       FROM pg_catalog.pg_database d WHERE d.datname = current_database())))
    GROUP BY s.queue_id),
queues AS MATERIALIZED (
    SELECT q.queue_id, q.name, q.next_offset, q.max_readers, q.paused, q.halted_at, q.halted_reason, q.halted_detail,
           r.run_no, r.run_id, r.name AS run_name, r.rejected,
           r.run_no IS NOT NULL
           OR EXISTS (SELECT FROM lockstep.run b WHERE b.queue_id = q.queue_id AND b.ended_at IS NULL) AS active,
           count(r.run_no) OVER () AS open_queues, GREATEST(2000 / count(*) OVER (), 10) AS most_phases,
           clock_timestamp() AS now
    FROM (SELECT b.queue_id, b.name, b.next_offset, b.max_readers, b.paused, b.halted_at, b.halted_reason,
                 b.halted_detail
          FROM lockstep.queue b ORDER BY b.name LIMIT 200) q
    LEFT JOIN LATERAL (
        SELECT b.run_no, b.run_id, b.name, b.rejected FROM lockstep.run b
        WHERE b.queue_id = q.queue_id AND b.ended_at IS NULL AND b.started_at IS NOT NULL ORDER BY b.run_no LIMIT 1) r
        ON true),
phases AS MATERIALIZED (
    SELECT q.queue_id, p.phase_id, p.previous_phase_id, p.opened_at, COALESCE(p.done_at, q.now) AS until_at, q.now,
           COALESCE((CASE WHEN p.done_at IS NULL THEN u.seq - 1 END) - f.seq, l.seq - f.seq,
                    l.kafka_offset - f.kafka_offset)
           + 1 AS tasks,
           m.minute,
           CASE WHEN count(*) OVER w < LEAST(q.most_phases, 100) THEN 0 ELSE min(m.minute) OVER w END AS first,
           row_number() OVER (PARTITION BY q.queue_id, m.minute ORDER BY p.opened_at DESC) AS nth
    FROM queues q
    CROSS JOIN LATERAL (
        SELECT k.phase_id, k.previous_phase_id, k.opened_at, k.done_at
        -- by run_newest
        FROM (SELECT b.run_no, b.ended_at FROM lockstep.run b WHERE b.queue_id::bigint BETWEEN q.queue_id AND q.queue_id
              ORDER BY b.queue_id::bigint DESC, b.run_no DESC LIMIT 20) r
        CROSS JOIN LATERAL (SELECT b.phase_id, b.previous_phase_id, b.opened_at, b.done_at
                            FROM lockstep.phase b
                            WHERE b.run_no = r.run_no
                            ORDER BY b."order" DESC LIMIT 100) k
        WHERE COALESCE(r.ended_at, q.now) > q.now - interval '1 hour' AND k.opened_at IS NOT NULL
          AND COALESCE(k.done_at, q.now) > q.now - interval '1 hour'
        ORDER BY k.opened_at DESC LIMIT LEAST(q.most_phases, 100)) p
    CROSS JOIN LATERAL (SELECT 59 - floor(date_part('epoch', q.now - p.opened_at) / 60)::int AS minute) m
    CROSS JOIN LATERAL (SELECT b.seq, b.kafka_offset
                        FROM lockstep.task b WHERE b.phase_id = p.phase_id ORDER BY b.kafka_offset LIMIT 1) f
    CROSS JOIN LATERAL (SELECT b.seq, b.kafka_offset
                        FROM lockstep.task b WHERE b.phase_id = p.phase_id ORDER BY b.kafka_offset DESC LIMIT 1) l
    LEFT JOIN LATERAL (SELECT b.seq
                       FROM lockstep.task b
                       WHERE p.done_at IS NULL AND b.phase_id + 0 = p.phase_id AND b.executor_no IS NULL
                         AND b.type <> 'external'
                       ORDER BY b.kafka_offset LIMIT 1) u ON true -- by task_unowned
    WINDOW w AS (PARTITION BY q.queue_id)),
throughput AS (
    SELECT x.queue_id,
           json_agg(CASE WHEN x.minute >= x.first THEN round(x.tasks * 10) / 10 END ORDER BY x.minute) AS minutes
    FROM (SELECT b.queue_id, b.minute, sum(b.tasks) AS tasks, max(max(b.first)) OVER (PARTITION BY b.queue_id) AS first
          FROM (SELECT p.queue_id, i.minute, p.first,
                       p.tasks * GREATEST(date_part('epoch', LEAST(p.until_at, e.ends)
                                                             - GREATEST(p.opened_at, e.ends - interval '1 minute')),
                                          0) / GREATEST(date_part('epoch', p.until_at - p.opened_at), 1e-6) AS tasks
                FROM phases p
                CROSS JOIN LATERAL generate_series(
                    GREATEST(p.minute, 0),
                    LEAST(59 - floor(date_part('epoch', p.now - p.until_at) / 60)::int, 59)) AS i (minute)
                CROSS JOIN LATERAL (SELECT p.now - (59 - i.minute) * interval '1 minute' AS ends) e
                UNION ALL
                SELECT d.queue_id, i.minute, NULL, 0
                FROM (SELECT DISTINCT p.queue_id FROM phases p) d CROSS JOIN generate_series(0, 59) AS i (minute)) b
          GROUP BY b.queue_id, b.minute) x
    GROUP BY x.queue_id),
barrier AS (
    SELECT x.queue_id, json_agg(round(x.ms * 10) / 10 ORDER BY x.minute) AS minutes
    FROM (SELECT b.queue_id, b.minute, max(b.ms) AS ms
          FROM (SELECT p.queue_id, p.minute, GREATEST(date_part('epoch', s.at - e.at) * 1000, 0) AS ms
                FROM phases p
                CROSS JOIN LATERAL (SELECT min(t.started_at) AS at
                                    FROM (SELECT k.started_at FROM lockstep.task k WHERE k.phase_id = p.phase_id
                                          ORDER BY k.kafka_offset LIMIT 16) t) s
                CROSS JOIN LATERAL (
                    SELECT max(t.started_at + t.duration) AS at
                    FROM (SELECT k.started_at, k.duration FROM lockstep.task k WHERE k.phase_id = p.previous_phase_id
                          ORDER BY k.kafka_offset DESC LIMIT 64) t) e
                WHERE p.nth = 1 AND p.minute >= 0
                UNION ALL
                SELECT q.queue_id, i.minute, NULL FROM queues q CROSS JOIN generate_series(0, 59) AS i (minute)) b
          GROUP BY b.queue_id, b.minute) x
    GROUP BY x.queue_id),
executors AS MATERIALIZED (
    SELECT q.queue_id, x.working, x.hindered
    FROM queues q JOIN lockstep.executors_by_queue(ARRAY(SELECT b.name FROM queues b)) x ON x.queue = q.name),
troubles AS (
    SELECT q.queue_id,
           (SELECT json_agg(json_build_object('reason', x.reason,
                                              'sentence', lockstep.shown('sentence', x.sentence, $1::boolean),
                                              'since', x.since, 'helps', x.helps))
            FROM lockstep.explain_stopped(q.queue_id) x) AS lines
    FROM (SELECT b.queue_id
          FROM queues b JOIN executors e USING (queue_id)
          WHERE b.halted_at IS NOT NULL
             OR (b.active AND (b.paused OR e.working = 0 OR e.hindered > 0
                               OR EXISTS (SELECT FROM lockstep.executor_aside a WHERE a.queue_id = b.queue_id)))
          ORDER BY b.halted_at IS NULL, b.paused, e.working > 0, b.name LIMIT 10) q)
SELECT json_build_object(
           'queues', COALESCE(
               (
                   SELECT json_agg(
                              json_build_object(
                                  'queue', q.name,
                                  'status', CASE WHEN q.halted_at IS NOT NULL THEN 'halted'
                                                 WHEN q.paused THEN 'paused' ELSE 'open' END,
                                  'reason',
                                      CASE WHEN q.halted_at IS NOT NULL THEN COALESCE(q.halted_detail, q.halted_reason)
                                           WHEN q.paused THEN (SELECT l.detail
                                                               FROM lockstep.event_log l
                                                               WHERE l.queue_id = q.queue_id AND l.run_no IS NULL
                                                                 AND l.event = 'queue_paused'
                                                               ORDER BY l.at DESC LIMIT 1) END,
                                  'max_readers', q.max_readers, 'target', q.max_readers,
                                  'in_use', COALESCE(s.in_use, 0), 'open_run', q.run_id, 'open_run_name', q.run_name,
                                  'open_order', (
                                      SELECT p."order"
                                      FROM lockstep.phase p
                                      WHERE p.run_no + 0 = q.run_no AND p.opened_at IS NOT NULL AND p.done_at IS NULL
                                      ORDER BY p."order" + 0 LIMIT 1), -- by phase_left
                                  'pending', c.pending,
                                  'processing', CASE WHEN c.read < c.most THEN c.processing
                                                     ELSE GREATEST(c.processing, s.in_use) END,
                                  'error', c.error, 'failed', GREATEST(c.failed, f.failed),
                                  'rejected', COALESCE(q.rejected, 0), 'counted_all', c.read < c.most,
                                  'lag', lockstep.queue_lag(q.name, q.next_offset),
                                  'oldest_waiting_s', lockstep.seconds(
                                      q.now - (SELECT p.claimed_at
                                               FROM lockstep.phase p
                                               WHERE p.queue_id = q.queue_id AND p.done_at IS NULL
                                               ORDER BY p.run_no, p."order" LIMIT 1)),
                                  'throughput', t.minutes, 'barrier_ms', b.minutes, 'executors', x.working,
                                  'active', q.active, 'troubles', COALESCE(w.lines, '[]'::json)) ORDER BY q.name)
                   FROM queues q
                   JOIN executors x USING (queue_id) LEFT JOIN troubles w USING (queue_id)
                   LEFT JOIN slots s USING (queue_id)
                   LEFT JOIN throughput t USING (queue_id)
                   LEFT JOIN barrier b USING (queue_id)
                   CROSS JOIN LATERAL (
                       SELECT count(*) AS read, max(m.most) AS most,
                              count(*) FILTER (WHERE k.status IN ('Pending', 'Paused')) AS pending,
                              count(*) FILTER (WHERE k.status = 'Processing') AS processing,
                              count(*) FILTER (WHERE k.status = 'Error') AS error,
                              count(*) FILTER (WHERE lockstep.is_failed(k.status)) AS failed
                       FROM (SELECT GREATEST(10001 / GREATEST(q.open_queues, 1), 501) AS most) m
                       LEFT JOIN LATERAL (
                           SELECT k.status
                           FROM (SELECT p.phase_id
                                 FROM lockstep.phase p
                                 WHERE p.run_no + 0 = q.run_no AND p.done_at IS NULL
                                 ORDER BY p."order" + 0 DESC LIMIT 100) p
                           CROSS JOIN LATERAL (SELECT b.status
                                               FROM lockstep.task b
                                               WHERE b.phase_id = p.phase_id
                                               ORDER BY b.kafka_offset DESC LIMIT m.most) k
                           LIMIT m.most) k ON true) c
                   CROSS JOIN LATERAL (SELECT COALESCE(sum(l.failed), 0) AS failed
                                       FROM lockstep.run_failures(q.run_no) l) f),
               '[]'::json),
           'alerts', COALESCE((SELECT json_agg(a ORDER BY a.alert_id DESC)
                               FROM (SELECT b.alert_id, b.job, b.kind, b.since, b.opened_at,
                                            lockstep.shown('job ' || b.kind, b.text, $1::boolean) AS text,
                                            b.acknowledged_by, b.acknowledged_at
                                     FROM lockstep.alert b
                                     WHERE b.closed_at IS NULL ORDER BY b.alert_id DESC LIMIT 100) a),
                              '[]'::json),
           'next', COALESCE((SELECT json_agg(json_build_object('job', n.job, 'schedule', n.schedule, 'at', n.next_at)
                                             ORDER BY n.next_at, n.job, n.schedule)
                             FROM (SELECT j.name AS job, s.name AS schedule, s.next_at
                                   FROM (SELECT b.job_id, b.name, b.next_at
                                         FROM lockstep.schedule b
                                         WHERE b.is_active AND b.wake_at IS NOT NULL
                                           AND CASE WHEN (b.rows_rule).relation IS NULL THEN true END
                                         -- CASE: the planner believes that all are triggers, from the index that has
                                         -- only those, and would sort
                                         ORDER BY b.wake_at LIMIT 50) s
                                   JOIN lockstep.job j USING (job_id) WHERE s.next_at IS NOT NULL) n),
                            '[]'::json),
           'queues_all', (SELECT count(*) FROM lockstep.queue q),
           'open_runs', (SELECT count(*) FROM lockstep.run r WHERE r.ended_at IS NULL AND r.started_at IS NOT NULL),
           'alerts_all', (SELECT count(*) FROM lockstep.alert a WHERE a.closed_at IS NULL),
           'executors', COALESCE(
               cardinality(lockstep.executors_alive()),
               (SELECT count(*)
                FROM lockstep.executor e
                WHERE e.ended_at IS NULL
                  AND e.heartbeat_at > clock_timestamp() - GREATEST(e.frozen_after * 2, interval '30 seconds'))),
           'now', clock_timestamp()) AS document;
