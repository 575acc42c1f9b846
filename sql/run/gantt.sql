-- run_gantt :many  run $1 cut into $2 columns of time: for each phase and column the mean number of tasks that run in
-- it. Where the clock was set back, an attempt may end before it began, or begin behind the end of the axis: nothing is
-- drawn for it. Only the first and last phases, $3 of them: a run may have thousands, and phases that are not drawn are
-- not read
-- columns: order, cell, running, makespan
WITH shown AS ( -- and the phases that were at work last, which end the axis
    (SELECT p.phase_id FROM lockstep.phase p WHERE p.run_no = $1::bigint ORDER BY p."order" LIMIT $3::int / 2)
    UNION
    (SELECT p.phase_id FROM lockstep.phase p WHERE p.run_no = $1::bigint ORDER BY p."order" DESC LIMIT $3::int / 2)
    UNION
    (SELECT p.phase_id FROM lockstep.phase p WHERE p.run_no = $1::bigint AND p.opened_at IS NOT NULL
     ORDER BY COALESCE(p.done_at, 'infinity') DESC LIMIT 2)),
task AS (
    SELECT t.task_id, t."order", t.status, t.started_at, t.duration
    FROM shown p
    CROSS JOIN LATERAL ( -- phase by phase
        SELECT k.task_id, k."order", k.status, k.started_at, k.duration
        FROM lockstep.task k WHERE k.phase_id = p.phase_id OFFSET 0) t),
attempt AS (
    SELECT t."order", t.started_at AS t0, COALESCE(t.started_at + t.duration, clock_timestamp()) AS t1
    FROM task t WHERE t.status IN ('Completed', 'Processing') AND t.started_at IS NOT NULL
    UNION ALL
    SELECT t."order", a.started_at, a.ended_at
    FROM task t JOIN lockstep.task_attempt a USING (task_id)
    WHERE a.started_at IS NOT NULL),
axis AS (
    SELECT min(a.t0) AS t0,
           GREATEST(extract(epoch FROM max(a.t1) - min(a.t0))::float8, 0) AS makespan,
           GREATEST(extract(epoch FROM max(a.t1) - min(a.t0))::float8 / $2::int, 1e-6) AS width
    FROM attempt a),
span AS (
    SELECT a."order", extract(epoch FROM a.t0 - x.t0)::float8 / x.width AS b0,
           extract(epoch FROM a.t1 - x.t0)::float8 / x.width AS b1
    FROM attempt a CROSS JOIN axis x),
busy AS (
    SELECT s."order", i AS cell, sum(GREATEST(LEAST(s.b1, i + 1) - GREATEST(s.b0, i), 0)) AS running
    FROM span s
    CROSS JOIN LATERAL generate_series(LEAST(floor(s.b0), $2::int)::int,
                                       GREATEST(LEAST(floor(s.b1), $2::int - 1), -1)::int) AS i
    GROUP BY s."order", i)
SELECT b."order", b.cell, b.running, x.makespan
FROM busy b CROSS JOIN axis x
ORDER BY b."order", b.cell;
