-- bench_figures :many  what run $1 was measured to take, and its records, which took $2 s to publish. A barrier is the
-- time from the end of the last task of a phase to the start of the first one of the next phase
-- columns: figure, value, unit
WITH phase AS (
    SELECT l."order", count(DISTINCT l.task_id) AS tasks, min(l.started_at) AS began, max(l.ended_at) AS ended
    FROM lockstep.execution_log l WHERE l.run_id = $1::uuid GROUP BY l."order"),
gap AS (
    SELECT extract(epoch FROM p.began - lag(p.ended) OVER (ORDER BY p."order"))::float8 * 1000 AS ms FROM phase p),
whole AS (
    SELECT sum(p.tasks)::float8 AS tasks, count(*)::float8 AS phases,
           extract(epoch FROM max(p.ended) - min(p.began))::float8 AS seconds
    FROM phase p),
barrier AS (
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY g.ms) AS p50,
           percentile_cont(0.99) WITHIN GROUP (ORDER BY g.ms) AS p99, max(g.ms) AS longest
    FROM gap g)
SELECT f.figure, round(f.value::numeric, f.digits)::float8 AS value, f.unit
FROM whole w CROSS JOIN barrier b
CROSS JOIN LATERAL (VALUES
    (1, 'tasks', w.tasks, 0, ''), (2, 'phases', w.phases, 0, ''),
    (3, 'published', (w.tasks + 1) / NULLIF($2::float8, 0), 0, 'records/s'),
    (4, 'run, first start to last end', w.seconds, 3, 's'),
    (5, 'tasks done', w.tasks / NULLIF(w.seconds, 0), 0, 'tasks/s'),
    (6, 'barrier, median', b.p50, 2, 'ms'), (7, 'barrier, 99 of 100', b.p99, 2, 'ms'),
    (8, 'barrier, longest', b.longest, 2, 'ms')) AS f (n, figure, value, digits, unit)
WHERE f.value IS NOT NULL
ORDER BY f.n;
