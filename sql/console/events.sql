-- console_events :one  the newest $1 events before number $2: of kinds $3, of queue $4, of run $5, with $6 in their
-- texts, from number $7 back, from $8 to $9 (NULL: any); if $10 with the texts of errors. One page reads at most 10,001
-- events, and so does the count: `next` continues where it ended. The number of an event and its time grow together,
-- except for 1,000 numbers or so: lockstep.event_at
-- columns: document
WITH bounds AS MATERIALIZED (
    SELECT LEAST($2::bigint - 1, $7::bigint,
                 CASE WHEN $9::timestamptz IS NOT NULL THEN lockstep.event_at($9::timestamptz) + 1000 END,
                 9223372036854775807) AS newest,
           CASE WHEN $8::timestamptz IS NOT NULL THEN lockstep.event_at($8::timestamptz) - 1000 ELSE 0 END AS oldest,
           (SELECT r.run_no FROM lockstep.run r WHERE r.run_id = $5::uuid ORDER BY r.run_no DESC LIMIT 1) AS run_no,
           (SELECT q.queue_id FROM lockstep.queue q WHERE q.name = $4::text) AS queue_id,
           CASE WHEN COALESCE($3::text, $4::text, $6::text, $7::text, $8::text, $9::text) IS NULL THEN $1::bigint
                ELSE 10001 END AS most),
seen AS (
    (SELECT l.event_id, l.at, l.event, l.queue_id, l.run_no, l.detail, l.actor
     FROM lockstep.event_log l
     WHERE $5::uuid IS NULL AND l.event_id BETWEEN (SELECT b.oldest FROM bounds b) AND (SELECT b.newest FROM bounds b)
     ORDER BY l.event_id DESC LIMIT (SELECT b.most FROM bounds b))
    UNION ALL
    (SELECT l.event_id, l.at, l.event, l.queue_id, l.run_no, l.detail, l.actor FROM lockstep.event_log l
     WHERE l.run_no BETWEEN (SELECT b.run_no FROM bounds b) AND (SELECT b.run_no FROM bounds b) -- by event_log_run
       AND l.event_id BETWEEN (SELECT b.oldest FROM bounds b) AND (SELECT b.newest FROM bounds b)
     ORDER BY l.run_no DESC, l.event_id DESC LIMIT (SELECT b.most FROM bounds b))),
found AS MATERIALIZED (
    SELECT s.event_id
    FROM seen s
    WHERE ($3::text IS NULL OR s.event = ANY (string_to_array($3::text, ',')))
      AND ($4::text IS NULL OR s.queue_id = (SELECT b.queue_id FROM bounds b))
      AND ($6::text IS NULL
           OR strpos(lower(concat_ws(' ', lockstep.shown(s.event, s.detail, $10::boolean), s.actor, s.event)),
                     lower($6::text)) > 0)
      AND ($8::timestamptz IS NULL OR s.at >= $8::timestamptz) AND ($9::timestamptz IS NULL OR s.at <= $9::timestamptz)
    ORDER BY s.event_id DESC LIMIT 10001),
page AS MATERIALIZED (SELECT f.event_id FROM found f ORDER BY f.event_id DESC LIMIT $1::bigint)
SELECT lockstep.page(
           (SELECT json_agg(i ORDER BY i.event_id DESC)
            FROM (SELECT l.event_id, l.at, l.event, l.event AS kind, q.name AS queue, r.run_id, r.name AS run_name,
                         p."order", l.task_id, e.executor_id, l.actor,
                         lockstep.shown(l.event, l.detail, $10::boolean) AS detail
                  FROM lockstep.event_log l
                  LEFT JOIN lockstep.queue q ON q.queue_id = l.queue_id
                  LEFT JOIN lockstep.run r ON r.run_no = l.run_no
                  LEFT JOIN lockstep.phase p ON p.phase_id = l.phase_id
                  LEFT JOIN lockstep.executor e ON e.executor_no = l.executor_no
                  WHERE l.event_id = ANY (ARRAY(SELECT event_id FROM page))) i),
           'events.' || COALESCE((SELECT min(event_id) FROM page HAVING count(*) = $1::bigint),
                                 (SELECT s.event_id FROM seen s ORDER BY s.event_id DESC OFFSET 10000 LIMIT 1)),
           CASE WHEN (SELECT b.most FROM bounds b) = 10001 THEN (SELECT count(*) FROM found)
                WHEN $5::uuid IS NULL THEN (SELECT count(*)
                                            FROM (SELECT FROM lockstep.event_log l
                                                  WHERE l.event_id < COALESCE($2::bigint, 9223372036854775807)
                                                  ORDER BY l.event_id DESC LIMIT 10001) c)
                ELSE (SELECT count(*)
                      FROM (SELECT FROM lockstep.event_log l
                            WHERE l.run_no BETWEEN (SELECT b.run_no FROM bounds b) AND (SELECT b.run_no FROM bounds b)
                              AND l.event_id < COALESCE($2::bigint, 9223372036854775807)
                            ORDER BY l.run_no DESC, l.event_id DESC LIMIT 10001) c) END) AS document;
