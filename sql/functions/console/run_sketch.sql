-- A run as a picture that costs about the same however large it is: the document of lockstep.run_gantt, from a sample
-- (sampled). Of more than 500 phases the last 500 are in it, but of those that have not opened the first 100;
-- phases_hidden says how many are left out. About 2,400 of their tasks are read, as many of each phase, each of which
-- counts for its neighbours, as in lockstep.queue_history. So a phase has a density and no bars, counts or straggler,
-- its end is when it was done, and readers is how many worked in the part of a density that kept most busy. How many of
-- a phase have failed says lockstep.run_failures.
CREATE OR REPLACE FUNCTION lockstep.run_sketch(p_run_no bigint, p_buckets int) RETURNS json LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET jit = off AS $$
BEGIN
RETURN ( -- PL/pgSQL keeps its plan; SQL, before PostgreSQL 18, is planned at each call
WITH run AS MATERIALIZED (
    SELECT r.run_no, r.run_id, q.name AS queue, r.name, r.status, COALESCE(r.started_at, r.created_at) AS t0,
           r.ended_at, r.phases, pg_catalog.clock_timestamp() AS now,
           COALESCE((SELECT k."order"
                     FROM lockstep.phase k
                     WHERE k.run_no + 0 = r.run_no AND k.done_at IS NULL AND k.opened_at IS NULL
                     ORDER BY k."order" + 0 OFFSET 100 LIMIT 1),
                    9223372036854775807) AS until_order -- by phase_left
    FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE r.run_no = p_run_no),
phase AS MATERIALIZED (
    SELECT p.phase_id, p."order", p.opened_at, p.done_at, pg_catalog.date_part('epoch', p.opened_at - r.t0) AS opened_s,
           p.tasks, d.start_s, CASE WHEN d.start_s IS NOT NULL THEN p.end_s END AS end_s, d.work_s, d.busy
    FROM run r
    CROSS JOIN LATERAL (
        SELECT b.phase_id, b."order", b.opened_at, b.done_at,
               pg_catalog.date_part('epoch', COALESCE(b.done_at, r.ended_at, r.now) - r.t0) AS end_s,
               f.kafka_offset AS first_offset, l.kafka_offset - f.kafka_offset + 1 AS width,
               COALESCE(l.seq - f.seq, l.kafka_offset - f.kafka_offset) + 1 AS tasks,
               LEAST(2400 / pg_catalog.count(*) OVER (), l.kafka_offset - f.kafka_offset + 1) AS samples
        FROM (SELECT k.phase_id, k."order", k.opened_at, k.done_at
              FROM lockstep.phase k
              WHERE k.run_no = r.run_no AND k."order" < r.until_order ORDER BY k."order" DESC LIMIT 500) b
        CROSS JOIN LATERAL (SELECT k.seq, k.kafka_offset
                            FROM lockstep.task k WHERE k.phase_id = b.phase_id ORDER BY k.kafka_offset LIMIT 1) f
        CROSS JOIN LATERAL (SELECT k.seq, k.kafka_offset
                            FROM lockstep.task k
                            WHERE k.phase_id = b.phase_id ORDER BY k.kafka_offset DESC LIMIT 1) l) p
    CROSS JOIN LATERAL (
        WITH sample AS MATERIALIZED (
            SELECT CASE WHEN t.status = 'Processing' THEN 1 ELSE p.tasks / t.read::float8 END AS weight,
                   pg_catalog.date_part('epoch', t.started_at - r.t0) AS start_s,
                   pg_catalog.date_part('epoch',
                                        CASE WHEN t.status = 'Processing' THEN r.now ELSE t.started_at + t.duration END
                                        - r.t0) AS end_s
            FROM (SELECT k.status, k.started_at, k.duration, k.type, pg_catalog.count(*) OVER () AS read
                  FROM lockstep.task k
                  WHERE k.phase_id = p.phase_id
                    -- One scan of the index for all of them. An offset of another run, or of a marker, finds none, so
                    -- more are looked for where tasks are thin; and each is anywhere in its part, because runs that
                    -- take turns on the topic have a pattern.
                    AND k.kafka_offset = ANY (ARRAY(
                        SELECT p.first_offset + (p.width * i.n + i.n * 7919 % p.width) / l.looks
                        FROM (SELECT LEAST(p.samples * LEAST((p.width - 1) / p.tasks + 1, 4), p.width) AS looks) l
                        CROSS JOIN LATERAL pg_catalog.generate_series(0, l.looks - 1) AS i (n))
                        || ARRAY[p.first_offset, p.first_offset + p.width - 1])) t -- there are these two
            WHERE p.opened_at IS NOT NULL AND t.started_at IS NOT NULL AND t.type <> 'external'
              AND (t.status = 'Processing' OR t.duration IS NOT NULL)),
        span AS MATERIALIZED (
            SELECT s.start_s, s.work_s, c.cells, GREATEST(p.end_s - s.start_s, 1e-6) / c.cells AS cell_s
            FROM (SELECT pg_catalog.min(b.start_s) AS start_s,
                         pg_catalog.sum(b.weight * (b.end_s - b.start_s)) AS work_s
                  FROM sample b) s
            CROSS JOIN (SELECT LEAST(GREATEST(p.samples / 8, 1), p_buckets)::int AS cells) c)
        SELECT n.start_s, n.work_s,
               (
                   SELECT pg_catalog.array_agg(g.busy ORDER BY g.cell)
                   FROM (
                       SELECT x.cell, pg_catalog.sum(x.busy) AS busy
                       FROM (
                           SELECT c.cell,
                                  s.weight * GREATEST(LEAST(b.b1, c.cell + 1) - GREATEST(b.b0, c.cell), 0) AS busy
                           FROM sample s
                           CROSS JOIN LATERAL (SELECT (s.start_s - n.start_s) / n.cell_s AS b0,
                                                      (s.end_s - n.start_s) / n.cell_s AS b1) b
                           CROSS JOIN LATERAL pg_catalog.generate_series(
                               pg_catalog.floor(b.b0)::int, LEAST(pg_catalog.floor(b.b1), n.cells - 1)::int) AS c (cell)
                           UNION ALL
                           SELECT c.cell, 0
                           FROM pg_catalog.generate_series(0, n.cells - 1) AS c (cell) WHERE n.start_s IS NOT NULL) x
                       GROUP BY x.cell) g) AS busy
        FROM span n) d),
most AS MATERIALIZED (
    SELECT GREATEST(COALESCE(pg_catalog.round(pg_catalog.max(b.busy)), 1), 1)::int AS readers,
           pg_catalog.count(DISTINCT p."order") AS phases
    FROM phase p LEFT JOIN LATERAL pg_catalog.unnest(p.busy) AS b (busy) ON true)
SELECT pg_catalog.json_build_object(
           'run_id', r.run_id, 'queue', r.queue, 'name', r.name, 'status', r.status, 'started_at', r.t0,
           'ended_at', r.ended_at, 'now', r.now,
           'length_s', pg_catalog.date_part('epoch', COALESCE(r.ended_at, r.now) - r.t0), 'readers', m.readers,
           'times_hidden', false, 'sampled', true, 'phases_hidden', GREATEST(r.phases - m.phases, 0),
           'phases', COALESCE(
               (
                   SELECT pg_catalog.json_agg(
                              pg_catalog.json_build_object(
                                  'order', p."order", 'opened_at', p.opened_at, 'done_at', p.done_at, 'tasks', p.tasks,
                                  'status', NULL, 'failed', COALESCE(p.failed, 0),
                                  'opened_s', pg_catalog.round(p.opened_s::numeric, 6),
                                  'start_s', pg_catalog.round(p.start_s::numeric, 6),
                                  'end_s', pg_catalog.round(p.end_s::numeric, 6),
                                  'barrier_s', CASE WHEN p.start_s >= p.before_s
                                                        THEN pg_catalog.round((p.start_s - p.before_s)::numeric, 6) END,
                                  'busy_share', pg_catalog.round(
                                      LEAST(p.work_s / NULLIF(m.readers * (p.end_s - p.start_s), 0), 1)::numeric, 4),
                                  'straggler', NULL, 'bars', NULL,
                                  'density', (SELECT pg_catalog.json_agg(
                                                         pg_catalog.round(LEAST(b.busy / m.readers, 1)::numeric, 3)
                                                         ORDER BY b.n)
                                              FROM pg_catalog.unnest(p.busy) WITH ORDINALITY AS b (busy, n)))
                              ORDER BY p."order")
                   FROM (SELECT b.*, f.failed,
                                pg_catalog.max(b.end_s) OVER (
                                    ORDER BY b."order" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_s
                         FROM phase b LEFT JOIN lockstep.run_failures(p_run_no) f USING (phase_id)) p),
               '[]'))
FROM run r CROSS JOIN most m);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_sketch(bigint, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_sketch(bigint, int) TO lockstep_operator, lockstep_monitor;
