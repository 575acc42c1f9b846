-- advise_phases :many  the phases of the newest $2 runs of queue $1, among its newest 2,000, that have ended and still
-- have the times of their tasks, while they have at most $3 tasks: a row a phase, its attempts on readers as lists in
-- the order in which they were assigned, times in microseconds since the run began. first_us, last_us: of all its
-- attempts. floor_us: the time with any number of readers, of external tasks, of tasks with several attempts, and until
-- the end of a task whose date (not_before) is behind the first start of its phase. A run that was reopened is left
-- out: its times include the hours until a person did that. So is one that was cut short: its producer aborted it, or a
-- failure stopped it and a phase behind was not run.
-- columns: run_no, run_id, order, items, task_ids, starts_us, busy_us, first_us, last_us, floor_us
SELECT r.run_no, r.run_id, p."order", a.items, a.task_ids, a.starts_us, a.busy_us, a.first_us, a.last_us, a.floor_us
FROM (SELECT b.run_no, b.run_id, b.started_at, sum(b.tasks) OVER (ORDER BY b.run_no DESC) AS tasks
      FROM (SELECT n.run_no, n.run_id, n.tasks, n.started_at
            FROM (SELECT k.run_no, k.run_id, k.tasks, k.started_at, k.ended_at, k.swept, k.status, k.reopened_at,
                         k.aborted, k.stop_after
                  FROM lockstep.run k
                  WHERE k.queue_id::bigint BETWEEN $1::int AND $1::int -- by run_newest
                  ORDER BY k.queue_id::bigint DESC, k.run_no DESC LIMIT 2000) n
            WHERE n.ended_at IS NOT NULL AND NOT n.swept AND n.status <> 'Cancelled' AND n.reopened_at IS NULL
              AND n.tasks BETWEEN 1 AND $3::bigint AND NOT n.aborted
              AND NOT EXISTS (SELECT FROM lockstep.phase k
                              CROSS JOIN LATERAL (SELECT FROM lockstep.task t
                                                  WHERE t.phase_id = k.phase_id AND t.status = 'Cancelled'
                                                    AND t.skipped IS NULL LIMIT 1) t
                              WHERE k.run_no = n.run_no AND k."order" > n.stop_after)
            ORDER BY n.run_no DESC LIMIT $2::int) b) r
CROSS JOIN LATERAL (SELECT k.phase_id, k."order" FROM lockstep.phase k WHERE k.run_no = r.run_no OFFSET 0) p
CROSS JOIN LATERAL (
    WITH attempt AS MATERIALIZED (
        SELECT t.task_id, t.external, b.start_us, b.end_us,
               CASE WHEN t.attempt_num = 1 THEN (date_part('epoch', t.scheduled_for - r.started_at) * 1e6)::bigint
                    END AS due_us
        FROM (SELECT k.task_id, k.kafka_offset, k.status, k.attempt_num, k.started_at, k.duration, k.scheduled_for,
                     k.type = 'external' AS external
              FROM lockstep.task k WHERE k.phase_id = p.phase_id OFFSET 0) t
        CROSS JOIN LATERAL (
            SELECT t.attempt_num AS attempt, t.started_at AS t0, t.started_at + t.duration AS t1
            WHERE t.status = 'Completed'
            UNION ALL
            SELECT f.attempt, f.started_at, f.ended_at
            FROM (SELECT k.attempt, k.started_at, k.ended_at FROM lockstep.task_attempt k
                  WHERE k.task_id = t.task_id AND (t.attempt_num > 1 OR t.status <> 'Completed' OR t.started_at IS NULL)
                  OFFSET 0) f) c
        CROSS JOIN LATERAL (SELECT (date_part('epoch', c.t0 - r.started_at) * 1e6)::bigint AS start_us,
                                   (date_part('epoch', c.t1 - r.started_at) * 1e6)::bigint AS end_us) b
        WHERE c.t0 IS NOT NULL AND c.t1 IS NOT NULL
        ORDER BY c.attempt, t.kafka_offset)
    SELECT count(*) FILTER (WHERE NOT x.external) AS items,
           string_agg(x.task_id::text, ',') FILTER (WHERE NOT x.external) AS task_ids,
           string_agg(x.start_us::text, ',') FILTER (WHERE NOT x.external) AS starts_us,
           string_agg((x.end_us - x.start_us)::text, ',') FILTER (WHERE NOT x.external) AS busy_us,
           min(x.start_us) AS first_us, max(x.end_us) AS last_us,
           (SELECT COALESCE(max(f.span), 0)
            FROM (SELECT max(y.end_us) - min(y.start_us) AS span FROM attempt y GROUP BY y.task_id, y.external
                  HAVING y.external OR count(*) > 1
                  UNION ALL
                  SELECT y.end_us - s.first_us
                  FROM attempt y CROSS JOIN (SELECT min(z.start_us) AS first_us FROM attempt z) s
                  WHERE y.due_us > s.first_us) f) AS floor_us
    FROM attempt x) a
WHERE r.tasks <= $3::bigint AND a.first_us IS NOT NULL
ORDER BY r.run_no DESC, p."order";
