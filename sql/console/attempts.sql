-- console_attempts :maybe  $1 attempts of run $2 behind place $3 (task and attempt), of the phase of order $4, that are
-- or ended in states $5 (NULL: any), in the order in which their tasks were published. If $6 with the texts of errors.
-- A page of a state looks at 10,001 attempts and tasks without one at most, and so does the count: `next` continues
-- where it ended
-- columns: document
WITH no AS (SELECT r.run_no FROM lockstep.run r WHERE r.run_id = $2::uuid ORDER BY r.run_no DESC LIMIT 1),
behind AS MATERIALIZED (
    SELECT k.task_id, k."order", k.kafka_offset, split_part($3::text, '_', 2)::bigint AS attempt
    FROM lockstep.task k WHERE k.task_id = split_part($3::text, '_', 1)::bigint),
seen AS MATERIALIZED ( -- phase by phase, there task by task as its index has them, and there attempt by attempt
    SELECT t.task_id, a.attempt, a.status, row_number() OVER () AS nth
    FROM no
    CROSS JOIN LATERAL (SELECT p.phase_id, p."order"
                        FROM lockstep.phase p
                        WHERE p.run_no = no.run_no AND ($4::bigint IS NULL OR p."order" = $4::bigint)
                          AND p."order" >= COALESCE((SELECT b."order" FROM behind b), -9223372036854775808)
                        ORDER BY p."order" OFFSET 0) p
    CROSS JOIN LATERAL (
        SELECT k.task_id, k.status, k.attempt_num, k.started_at
        FROM lockstep.task k
        WHERE k.phase_id = p.phase_id
          AND k.kafka_offset >= CASE WHEN p."order" = (SELECT b."order" FROM behind b)
                                         THEN (SELECT b.kafka_offset FROM behind b)
                                     ELSE -9223372036854775808 END
        ORDER BY k.kafka_offset LIMIT 10001) t
    LEFT JOIN LATERAL (
        SELECT u.attempt, u.status
        FROM (SELECT h.attempt, h.status FROM lockstep.task_attempt h WHERE h.task_id = t.task_id
              UNION ALL
              SELECT t.attempt_num, t.status
              WHERE t.status IN ('Completed', 'Processing') AND t.started_at IS NOT NULL) u
        WHERE u.attempt > COALESCE((SELECT b.attempt FROM behind b WHERE b.task_id = t.task_id), 0)
        ORDER BY u.attempt) a ON true
    LIMIT 10001),
found AS MATERIALIZED (
    SELECT s.task_id, s.attempt, s.nth
    FROM seen s
    WHERE s.attempt IS NOT NULL
      AND ($5::text IS NULL OR s.status::text = ANY ((SELECT $5::text[])::text[]))),
page AS MATERIALIZED (
    SELECT f.task_id, f.attempt, f.nth FROM found f ORDER BY f.nth LIMIT $1::bigint)
SELECT lockstep.page((SELECT json_agg(to_jsonb(i) - 'nth' ORDER BY i.nth)
                      FROM (SELECT g.task_id, t."order", t.seq, t.name, t.type, g.attempt,
                                   COALESCE(a.status, t.status) AS status,
                                   CASE WHEN a.attempt IS NULL THEN t.started_at ELSE a.started_at END AS started_at,
                                   CASE WHEN a.attempt IS NULL THEN t.started_at + t.duration
                                        ELSE a.ended_at END AS ended_at,
                                   lockstep.seconds(CASE WHEN a.attempt IS NULL THEN t.duration
                                                         ELSE a.ended_at - a.started_at END) AS seconds,
                                   a.sqlstate, lockstep.shown('error', a.error, $6::boolean) AS error, e.executor_id,
                                   CASE WHEN a.attempt IS NULL THEN t.worker ELSE a.worker END AS worker,
                                   CASE WHEN a.attempt IS NULL THEN t.rows ELSE a.rows END AS rows, g.nth
                            FROM page g JOIN lockstep.task t ON t.task_id = g.task_id
                            LEFT JOIN lockstep.task_attempt a ON a.task_id = g.task_id AND a.attempt = g.attempt
                            LEFT JOIN lockstep.executor e
                                ON e.executor_no = CASE WHEN a.attempt IS NULL THEN t.executor_no
                                                        ELSE a.executor_no END) i),
                     'attempts.' || COALESCE(
                         (SELECT p.task_id || '_' || p.attempt FROM page p
                          WHERE (SELECT count(*) FROM page) = $1::bigint ORDER BY p.nth DESC LIMIT 1),
                         (SELECT s.task_id || '_' || COALESCE(s.attempt, 0) FROM seen s
                          WHERE s.nth = 10001)),
                     (SELECT count(*) FROM found)) AS document
FROM no;
