-- A run as one JSON document, for everything that draws it: `run show --svg` and the console. NULL: there is no such
-- run. All times are seconds after started_at, and those of the server. readers: the most attempts that ran at once. A
-- phase's barrier_s is the time between the last end of the phases before and its own first start, NULL if one of them
-- was retried after that; busy_share is the part of the readers' time from its first start (start_s) to its last end
-- (end_s) in which they ran something; straggler is the task that ended last. order_text: JSON readers round a number
-- above 2^53. bars: an attempt each, and a task each of those without one (start_s is null); waited_s is the time
-- since the phase opened, or since the attempt before ended; waited_for is reader, or retry after an attempt that
-- failed. A phase of more than 500 attempts has a density instead: p_buckets equal parts of start_s to end_s, of each
-- the share of the readers that was busy. A run of more than two million tasks has its phases alone (times_hidden):
-- reading it would take minutes.
CREATE OR REPLACE FUNCTION lockstep.run_gantt(p_run_no bigint, p_buckets int DEFAULT 200) RETURNS json
LANGUAGE plpgsql STABLE SET enable_hashjoin = on SET enable_seqscan = off SET work_mem = '32MB' SET jit = off AS $$
BEGIN
RETURN ( -- PL/pgSQL keeps its plan; SQL, before PostgreSQL 18, is planned at each call
WITH run AS MATERIALIZED (
    SELECT r.run_no, r.run_id, q.name AS queue, r.name, r.status, COALESCE(r.started_at, r.created_at) AS t0,
           r.started_at, r.ended_at, pg_catalog.clock_timestamp() AS now, r.tasks <= 2000000 AS is_read,
           LEAST(GREATEST(p_buckets, 1), 2000) AS buckets
    FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE r.run_no = p_run_no),
phase AS MATERIALIZED (
    SELECT p.phase_id, p."order", p.opened_at, p.done_at, pg_catalog.date_part('epoch', p.opened_at - r.t0) AS opened_s
    FROM run r JOIN lockstep.phase p USING (run_no)),
task AS MATERIALIZED (
    SELECT t.phase_id, t.task_id, t.kafka_offset, t.name, t.status, t.by_reader, t.attempt_num, p.opened_s, r.t0,
           pg_catalog.date_part('epoch', t.started_at - r.t0) AS start_s,
           CASE WHEN t.status = 'Completed' THEN pg_catalog.date_part('epoch', t.started_at + t.duration - r.t0)
                WHEN t.status = 'Processing' THEN pg_catalog.date_part('epoch', r.now - r.t0) END AS end_s
    FROM run r
    CROSS JOIN phase p
    CROSS JOIN LATERAL ( -- phase by phase, by its index
        SELECT k.phase_id, k.task_id, k.kafka_offset, k.name, k.status, k.type <> 'external' AS by_reader,
               k.attempt_num, k.started_at, k.duration
        FROM lockstep.task k WHERE k.phase_id = p.phase_id OFFSET 0) t
    WHERE r.is_read),
bar AS MATERIALIZED ( -- a successful attempt, and one that runs, is the task's row itself
    SELECT t.phase_id, t.task_id, t.kafka_offset, t.name, t.attempt_num AS attempt, t.status, t.by_reader, t.opened_s,
           t.start_s, t.end_s
    FROM task t WHERE t.end_s IS NOT NULL
    UNION ALL
    SELECT t.phase_id, t.task_id, t.kafka_offset, t.name, a.attempt, a.status, t.by_reader, t.opened_s,
           pg_catalog.date_part('epoch', a.started_at - t.t0), pg_catalog.date_part('epoch', a.ended_at - t.t0)
    FROM task t
    CROSS JOIN LATERAL (SELECT k.attempt, k.status, k.started_at, k.ended_at FROM lockstep.task_attempt k
                        WHERE k.task_id = t.task_id AND k.started_at IS NOT NULL OFFSET 0) a
    WHERE t.attempt_num > 1 OR t.end_s IS NULL
    UNION ALL
    SELECT t.phase_id, t.task_id, t.kafka_offset, t.name, NULL, t.status, false, t.opened_s, NULL, NULL
    FROM task t WHERE t.end_s IS NULL
      AND NOT EXISTS (SELECT FROM lockstep.task_attempt k
                      WHERE k.task_id = t.task_id AND k.attempt = t.attempt_num AND k.started_at IS NOT NULL OFFSET 0)),
span AS MATERIALIZED (
    SELECT b.phase_id, pg_catalog.count(*) AS bars, pg_catalog.min(b.start_s) AS start_s,
           pg_catalog.max(b.end_s) AS end_s, pg_catalog.sum(b.end_s - b.start_s) FILTER (WHERE b.by_reader) AS work_s,
           GREATEST(pg_catalog.max(b.end_s) - pg_catalog.min(b.start_s), 1e-6) / r.buckets AS width
    FROM bar b CROSS JOIN run r GROUP BY b.phase_id, r.buckets),
step AS ( -- where an attempt begins, and where it ends
    SELECT b.phase_id, b.start_s AS at, 1 AS change FROM bar b WHERE b.by_reader
    UNION ALL
    SELECT b.phase_id, b.end_s, -1 FROM bar b WHERE b.by_reader),
most AS MATERIALIZED ( -- a phase ends before the next one begins
    SELECT GREATEST(pg_catalog.max(c.running), 1)::int AS readers
    FROM (SELECT pg_catalog.sum(s.change) OVER (ORDER BY s.at, s.change ROWS UNBOUNDED PRECEDING) AS running
          FROM step s) c),
cell AS ( -- of the steps in it, or outside, if the clock was set back: how they change what runs, for how long
    SELECT s.phase_id, c.cell, pg_catalog.sum(s.change) AS change,
           pg_catalog.sum(s.change * ((c.cell + 1) * n.width - (s.at - n.start_s))) AS inside_s
    FROM run r CROSS JOIN step s JOIN span n USING (phase_id) CROSS JOIN LATERAL (
        SELECT GREATEST(LEAST(pg_catalog.floor((s.at - n.start_s) / n.width), r.buckets - 1), 0)::int AS cell) c
    WHERE n.bars > 500 GROUP BY s.phase_id, c.cell),
density AS (
    SELECT g.phase_id,
           pg_catalog.json_agg(pg_catalog.round(
                                   GREATEST(COALESCE(g.inside_s, 0) / g.width + g.running - COALESCE(g.change, 0),
                                            0)::numeric / m.readers,
                                   3) ORDER BY g.cell) AS cells
    FROM (SELECT n.phase_id, i.cell, n.width, c.change, c.inside_s,
                 COALESCE(pg_catalog.sum(c.change) OVER (PARTITION BY n.phase_id ORDER BY i.cell), 0) AS running
          FROM run r CROSS JOIN span n CROSS JOIN LATERAL pg_catalog.generate_series(0, r.buckets - 1) AS i (cell)
          LEFT JOIN cell c ON c.phase_id = n.phase_id AND c.cell = i.cell WHERE n.bars > 500) g
    CROSS JOIN most m
    GROUP BY g.phase_id),
bars AS (
    SELECT b.phase_id,
           pg_catalog.json_agg(
               pg_catalog.json_build_object(
                   'task_id', b.task_id, 'name', b.name, 'attempt', b.attempt, 'status', b.status,
                   'start_s', pg_catalog.round(b.start_s::numeric, 6), 'end_s', pg_catalog.round(b.end_s::numeric, 6),
                   'waited_s', pg_catalog.round(
                       CASE WHEN b.start_s < b.since_s THEN 0 ELSE b.start_s - b.since_s END::numeric, 6),
                   'waited_for', CASE WHEN b.start_s IS NULL THEN NULL
                                      WHEN b.before <> 'Pending' THEN 'retry' ELSE 'reader' END)
               ORDER BY b.kafka_offset, b.attempt) AS bars
    FROM (SELECT c.*, COALESCE(pg_catalog.lag(c.end_s) OVER w, c.opened_s) AS since_s,
                 pg_catalog.lag(c.status) OVER w AS before
          FROM bar c JOIN span n USING (phase_id)
          WHERE n.bars <= 500 WINDOW w AS (PARTITION BY c.task_id ORDER BY c.attempt)) b
    GROUP BY b.phase_id),
ended_last AS (
    SELECT DISTINCT ON (b.phase_id) b.phase_id, b.task_id, b.name, b.end_s - b.start_s AS seconds
    FROM bar b JOIN span n ON n.phase_id = b.phase_id AND n.end_s = b.end_s ORDER BY b.phase_id, b.start_s)
SELECT pg_catalog.json_build_object(
           'run_id', r.run_id, 'queue', r.queue, 'name', r.name, 'status', r.status, 'started_at', r.t0,
           'ended_at', r.ended_at, 'now', r.now,
           'length_s', pg_catalog.date_part('epoch', COALESCE(r.ended_at, r.now) - r.t0), 'readers', m.readers,
           'times_hidden', NOT r.is_read,
           'phases', COALESCE(
               (SELECT pg_catalog.json_agg(
                           pg_catalog.json_build_object(
                               'order', p."order", 'opened_at', p.opened_at, 'done_at', p.done_at, 'tasks', p.tasks,
                               'status', p.counts, 'opened_s', pg_catalog.round(p.opened_s::numeric, 6),
                               'start_s', pg_catalog.round(p.start_s::numeric, 6),
                               'end_s', pg_catalog.round(p.end_s::numeric, 6),
                               'barrier_s', CASE WHEN p.barrier >= 0 THEN pg_catalog.round(p.barrier::numeric, 6) END,
                               'busy_share', pg_catalog.round(
                                   (p.work_s / NULLIF(m.readers * (p.end_s - p.start_s), 0))::numeric, 4),
                               'straggler', CASE WHEN e.phase_id IS NOT NULL THEN pg_catalog.json_build_object(
                                                     'task_id', e.task_id, 'name', e.name,
                                                     'seconds', pg_catalog.round(e.seconds::numeric, 6)) END,
                               'bars', b.bars, 'density', d.cells, 'order_text', p."order"::text) ORDER BY p."order")
                FROM (SELECT f.*, n.start_s, n.end_s, n.work_s, c.tasks, c.counts,
                             n.start_s - pg_catalog.max(n.end_s) OVER (
                                 ORDER BY f."order" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS barrier
                      FROM phase f LEFT JOIN span n USING (phase_id)
                      LEFT JOIN (SELECT s.phase_id, pg_catalog.sum(s.n) AS tasks,
                                        pg_catalog.json_object_agg(s.status, s.n ORDER BY s.status) AS counts
                                 FROM (SELECT t.phase_id, t.status, pg_catalog.count(*) AS n FROM task t
                                       GROUP BY t.phase_id, t.status) s GROUP BY s.phase_id) c USING (phase_id)) p
                LEFT JOIN bars b USING (phase_id) LEFT JOIN density d USING (phase_id)
                LEFT JOIN ended_last e USING (phase_id)),
               '[]')) FROM run r CROSS JOIN most m);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_gantt(bigint, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_gantt(bigint, int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
