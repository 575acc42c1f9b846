-- The activity of a queue since p_since (an hour ago, unless another time is given), as one JSON document for charts:
-- p_buckets equal parts of the time until p_until (now), each with target (max_readers, from the log of events; null:
-- not known), in_use (readers that ran a task, on average), tasks (that ended in it) and barrier_ms (mean of the newest
-- three phases that opened in it, where the phases have at most 200 tasks). No record is written for it: in_use and
-- tasks are estimated from the rows of at most 30 tasks a part, each of which counts for its neighbours; of more than
-- 400 phases every second one is read, of more than 800 every third. So the number of rows that are read does not grow
-- with the tables. Runs beyond the newest 1,000, and phases beyond the newest 2,000, are left out.
CREATE OR REPLACE FUNCTION lockstep.queue_history(
    p_queue text, p_since timestamptz DEFAULT NULL, p_buckets int DEFAULT 60, p_until timestamptz DEFAULT NULL)
RETURNS json LANGUAGE plpgsql STABLE SET enable_seqscan = off SET jit = off AS $$
BEGIN
RETURN ( -- PL/pgSQL keeps its plan; SQL, before PostgreSQL 18, is planned at each call
WITH axis AS MATERIALIZED (
    SELECT q.queue_id, q.name, q.max_readers, a.buckets, a.until_at, a.since,
           pg_catalog.date_part('epoch', a.until_at - a.since) / a.buckets AS width
    FROM lockstep.queue q
    CROSS JOIN LATERAL (SELECT n.now AS until_at,
                               LEAST(COALESCE(p_since, n.now - interval '1 hour'),
                                     n.now - interval '1 second') AS since,
                               LEAST(GREATEST(p_buckets, 1), 1440) AS buckets
                        FROM (SELECT COALESCE(p_until, pg_catalog.clock_timestamp()) AS now) n) a
    WHERE q.name = p_queue),
run AS MATERIALIZED (
    SELECT r.run_no FROM axis x CROSS JOIN LATERAL (
        -- by run_newest; a comparison of rows, as in sql/console/runs.sql
        SELECT k.run_no, k.ended_at FROM lockstep.run k
        WHERE (k.queue_id::bigint, k.run_no) <= (x.queue_id, 9223372036854775807) AND k.queue_id::bigint >= x.queue_id
        ORDER BY k.queue_id::bigint DESC, k.run_no DESC LIMIT 1000) r
    WHERE r.ended_at IS NULL OR r.ended_at > x.since),
phase AS MATERIALIZED (
    SELECT n.phase_id, n.previous_phase_id, n.opened_at, n.stands_for, f.seq,
           GREATEST(l.seq - f.seq, l.kafka_offset - f.kafka_offset, 0) + 1 AS tasks, f.kafka_offset AS first_offset,
           l.kafka_offset AS last_offset, pg_catalog.count(*) OVER () AS phases
    FROM (SELECT o.*, pg_catalog.row_number() OVER (ORDER BY o.opened_at DESC) - 1 AS nth,
                 pg_catalog.ceil(pg_catalog.count(*) OVER () / 400.0)::int AS stands_for
          FROM (SELECT k.phase_id, k.previous_phase_id, k.opened_at
                FROM axis x
                CROSS JOIN run r
                CROSS JOIN LATERAL (SELECT p.phase_id, p.previous_phase_id, p.opened_at, p.done_at
                                    FROM lockstep.phase p
                                    WHERE p.run_no = r.run_no ORDER BY p."order" DESC LIMIT 2000) k
                WHERE k.opened_at < x.until_at AND (k.done_at IS NULL OR k.done_at > x.since)
                ORDER BY k.opened_at DESC LIMIT 2000) o) n
    CROSS JOIN LATERAL (SELECT k.seq, k.kafka_offset
                        FROM lockstep.task k WHERE k.phase_id = n.phase_id ORDER BY k.kafka_offset LIMIT 1) f
    CROSS JOIN LATERAL (SELECT k.seq, k.kafka_offset
                        FROM lockstep.task k WHERE k.phase_id = n.phase_id ORDER BY k.kafka_offset DESC LIMIT 1) l
    WHERE n.nth % n.stands_for = 0),
sample AS (
    SELECT s.stands_for * s.tasks / s.samples::float8 AS weight,
           pg_catalog.date_part('epoch', t.started_at - x.since) / x.width AS b0,
           pg_catalog.date_part(
               'epoch', CASE WHEN t.status = 'Processing' THEN x.until_at ELSE t.started_at + t.duration END - x.since)
               / x.width AS b1,
           t.status <> 'Processing' AS has_ended, t.external, x.buckets
    FROM axis x
    CROSS JOIN LATERAL (SELECT p.phase_id, p.first_offset, p.last_offset, p.tasks, p.stands_for,
                               LEAST(p.tasks, GREATEST(30 * x.buckets / p.phases, 1))::int AS samples
                        FROM phase p) s
    CROSS JOIN LATERAL pg_catalog.generate_series(0, s.samples - 1) AS i (n)
    CROSS JOIN LATERAL (SELECT k.status, k.started_at, k.duration, k.type = 'external' AS external
                        FROM lockstep.task k
                        WHERE k.phase_id = s.phase_id
                          AND k.kafka_offset >= s.first_offset + (s.last_offset - s.first_offset + 1) * i.n / s.samples
                        ORDER BY k.kafka_offset LIMIT 1) t
    WHERE t.started_at IS NOT NULL
      AND (t.status = 'Processing' OR (lockstep.is_finished(t.status) AND t.duration IS NOT NULL))),
ran AS (
    SELECT c.cell,
           pg_catalog.sum(s.weight * GREATEST(LEAST(s.b1, c.cell + 1) - GREATEST(s.b0, c.cell), 0)) FILTER (
               WHERE NOT s.external) AS in_use,
           pg_catalog.sum(s.weight) FILTER (WHERE s.has_ended AND s.b1 >= c.cell AND s.b1 < c.cell + 1) AS tasks
    FROM sample s
    CROSS JOIN LATERAL pg_catalog.generate_series(GREATEST(pg_catalog.floor(s.b0), 0)::int,
                                                  LEAST(pg_catalog.floor(s.b1), s.buckets - 1)::int) AS c (cell)
    GROUP BY c.cell),
barrier AS (
    SELECT o.cell,
           pg_catalog.avg(GREATEST(pg_catalog.date_part('epoch', a.started_at - b.ended_at) * 1000, 0)) AS barrier_ms
    FROM (SELECT c.cell, p.phase_id, p.previous_phase_id,
                 pg_catalog.row_number() OVER (PARTITION BY c.cell ORDER BY p.opened_at DESC) AS nth
          FROM axis x CROSS JOIN phase p
          CROSS JOIN LATERAL (SELECT pg_catalog.floor(
                                         pg_catalog.date_part('epoch', p.opened_at - x.since) / x.width)::int AS cell) c
          WHERE p.previous_phase_id IS NOT NULL AND p.tasks <= 200 AND c.cell BETWEEN 0 AND x.buckets - 1) o
    CROSS JOIN LATERAL (SELECT pg_catalog.min(k.started_at) AS started_at
                        FROM lockstep.task k WHERE k.phase_id = o.phase_id) a
    CROSS JOIN LATERAL (SELECT pg_catalog.max(e.started_at + e.duration) AS ended_at, pg_catalog.count(*) AS tasks
                        FROM (SELECT k.started_at, k.duration
                              FROM lockstep.task k
                              WHERE k.phase_id = o.previous_phase_id ORDER BY k.kafka_offset LIMIT 201) e) b
    WHERE o.nth <= 3 AND b.tasks <= 200
    GROUP BY o.cell),
target AS (
    SELECT e.at, pg_catalog.substring(e.detail, '\mmax_readers (\d+)')::int AS readers
    -- by event_log_queue
    FROM axis x JOIN lockstep.event_log e ON e.queue_id = x.queue_id AND e.run_no IS NULL AND e.at > '-infinity'
    WHERE e.event IN ('queue_changed', 'queue_created') AND e.detail ~ '\mmax_readers \d')
SELECT pg_catalog.json_build_object(
           'queue', x.name, 'since', x.since, 'until', x.until_at, 'bucket_s', pg_catalog.round(x.width::numeric, 3),
           'points', (SELECT pg_catalog.json_agg(
                                 pg_catalog.json_build_object(
                                     'at', x.since + i.cell * x.width * interval '1 second',
                                     'target', COALESCE(
                                         (SELECT t.readers
                                          FROM target t
                                          WHERE t.at <= x.since + (i.cell + 1) * x.width * interval '1 second'
                                          ORDER BY t.at DESC LIMIT 1),
                                         CASE WHEN NOT EXISTS (SELECT FROM target) THEN x.max_readers END),
                                     'in_use', pg_catalog.round(COALESCE(r.in_use, 0)::numeric, 2),
                                     'tasks', pg_catalog.round(COALESCE(r.tasks, 0)),
                                     'barrier_ms', pg_catalog.round(b.barrier_ms::numeric, 3)) ORDER BY i.cell)
                      FROM pg_catalog.generate_series(0, x.buckets - 1) AS i (cell)
                      LEFT JOIN ran r USING (cell) LEFT JOIN barrier b USING (cell)))
FROM axis x);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.queue_history(text, timestamptz, int, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.queue_history(text, timestamptz, int, timestamptz)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
