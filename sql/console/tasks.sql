-- console_tasks :maybe  $1 tasks of run $2 behind task $3, of the phase of order $4, in states $5, with $6 in their
-- name (NULL: any), in the order in which they were published. If $7 with the texts of errors. A page of a state or a
-- name looks at 10,001 tasks at most, and so does the count: `next` continues where it ended
-- columns: document
WITH no AS (SELECT r.run_no FROM lockstep.run r WHERE r.run_id = $2::uuid ORDER BY r.run_no DESC LIMIT 1),
behind AS MATERIALIZED (SELECT k."order", k.kafka_offset FROM lockstep.task k WHERE k.task_id = $3::bigint),
seen AS MATERIALIZED (
    SELECT t.task_id, t.status, t.name, row_number() OVER () AS nth -- phase by phase, and there as its index has them
    FROM no
    CROSS JOIN LATERAL (SELECT p.phase_id, p."order"
                        FROM lockstep.phase p
                        WHERE p.run_no = no.run_no AND ($4::bigint IS NULL OR p."order" = $4::bigint)
                          AND p."order" >= COALESCE((SELECT b."order" FROM behind b), -9223372036854775808)
                        ORDER BY p."order" OFFSET 0) p
    CROSS JOIN LATERAL (
        SELECT k.task_id, k.status, k.name
        FROM lockstep.task k
        WHERE k.phase_id = p.phase_id
          AND k.kafka_offset > CASE WHEN p."order" = (SELECT b."order" FROM behind b)
                                        THEN (SELECT b.kafka_offset FROM behind b)
                                    ELSE -9223372036854775808 END
        ORDER BY k.kafka_offset LIMIT 10001) t
    LIMIT 10001),
found AS MATERIALIZED (
    SELECT s.task_id, s.nth
    FROM seen s
    WHERE ($5::text IS NULL OR s.status::text = ANY ((SELECT $5::text[])::text[]))
      AND ($6::text IS NULL OR strpos(lower(s.name), lower($6::text)) > 0)),
page AS MATERIALIZED (SELECT f.task_id, f.nth FROM found f ORDER BY f.nth LIMIT $1::bigint)
SELECT lockstep.page((SELECT json_agg(i ORDER BY i."order", i.kafka_offset)
                      FROM (SELECT t.task_id, t."order", t.seq, t.name, t.type, t.status, t.step,
                                   t.attempt_num AS attempt, t.max_attempts, t.lost_num AS lost, t.started_at,
                                   lockstep.seconds(t.duration) AS seconds, t.scheduled_for,
                                   lockstep.shown('error', t.error, $7::boolean) AS error, e.executor_id,
                                   t.cancelled_by, t.kafka_offset
                            FROM lockstep.task t LEFT JOIN lockstep.executor e ON e.executor_no = t.executor_no
                            WHERE t.task_id = ANY (ARRAY(SELECT task_id FROM page))) i),
                     'tasks.' || COALESCE((SELECT p.task_id
                                           FROM page p
                                           WHERE (SELECT count(*) FROM page) = $1::bigint ORDER BY p.nth DESC LIMIT 1),
                                          (SELECT s.task_id FROM seen s WHERE s.nth = 10001)),
                     (SELECT count(*) FROM found)) AS document
FROM no;
