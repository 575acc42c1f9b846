-- console_runs :one  the newest $1 runs before number $2, of queue $3, in states $4, with $5 in their name, published
-- or started from $6 to $7 (NULL: any); if $8 with the texts of errors. A page looks at 10,001 runs at most, and so
-- does the count: `next` continues where it ended. Only of states that end are ended runs looked at. The number of a
-- run and its time grow together, but for 1,000 numbers or so. The runs of a queue are asked for by two comparisons of
-- rows: of BETWEEN the planner expects so few that it would read all, and sort them
-- columns: document
WITH asked AS MATERIALIZED (
    SELECT LEAST($2::bigint - 1, CASE WHEN $7::timestamptz IS NOT NULL THEN lockstep.run_at($7::timestamptz) + 1000 END,
                 9223372036854775807) AS newest,
           CASE WHEN $6::timestamptz IS NOT NULL THEN lockstep.run_at($6::timestamptz) - 1000 ELSE 0 END AS oldest,
           (SELECT q.queue_id FROM lockstep.queue q WHERE q.name = $3::text) AS queue_id,
           COALESCE($4::text[] <@ '{Publishing,Published,Running,Paused}', false) AS is_open,
           CASE WHEN COALESCE($4::text[]::text, $5::text, $6::text, $7::text) IS NULL THEN $1::bigint
                ELSE 10001 END AS most),
seen AS (
    (SELECT r.run_no, r.run_id, r.name, r.status, r.published_at, r.created_at
     FROM lockstep.run r
     WHERE $3::text IS NULL AND NOT (SELECT a.is_open FROM asked a)
       AND r.run_no BETWEEN (SELECT a.oldest FROM asked a) AND (SELECT a.newest FROM asked a)
     ORDER BY r.run_no DESC LIMIT (SELECT a.most FROM asked a))
    UNION ALL
    (SELECT r.run_no, r.run_id, r.name, r.status, r.published_at, r.created_at
     FROM lockstep.run r
     WHERE $3::text IS NOT NULL AND NOT (SELECT a.is_open FROM asked a) -- by run_newest
       AND (r.queue_id::bigint, r.run_no) <= ((SELECT a.queue_id FROM asked a), (SELECT a.newest FROM asked a))
       AND (r.queue_id::bigint, r.run_no) >= ((SELECT a.queue_id FROM asked a), (SELECT a.oldest FROM asked a))
     ORDER BY r.queue_id::bigint DESC, r.run_no DESC LIMIT (SELECT a.most FROM asked a))
    UNION ALL
    (SELECT o.run_no, o.run_id, o.name, o.status, o.published_at, o.created_at
     FROM (SELECT q.queue_id
           FROM lockstep.queue q WHERE (SELECT a.is_open FROM asked a) AND ($3::text IS NULL OR q.name = $3::text)) q
     -- by run_active
     CROSS JOIN LATERAL (SELECT r.run_no, r.run_id, r.name, r.status, r.published_at, r.created_at
                         FROM lockstep.run r
                         WHERE r.queue_id = q.queue_id AND r.ended_at IS NULL
                           AND r.run_no BETWEEN (SELECT a.oldest FROM asked a) AND (SELECT a.newest FROM asked a)
                         ORDER BY r.run_no DESC LIMIT 10001) o
     ORDER BY o.run_no DESC LIMIT 10001)),
found AS MATERIALIZED (
    SELECT s.run_no
    FROM seen s
    WHERE ($4::text IS NULL OR lockstep.run_state(s.status, s.published_at) = ANY ((SELECT $4::text[])::text[]))
      AND ($5::text IS NULL OR strpos(lower(concat_ws(' ', s.name, s.run_id)), lower($5::text)) > 0)
      AND ($6::timestamptz IS NULL OR s.created_at >= $6::timestamptz)
      AND ($7::timestamptz IS NULL OR s.created_at <= $7::timestamptz)),
page AS MATERIALIZED (SELECT f.run_no FROM found f ORDER BY f.run_no DESC LIMIT $1::bigint)
SELECT lockstep.page((SELECT json_agg(lockstep.run_document(p.run_no, GREATEST(25000 / $1::bigint, 50), $8::boolean)
                                      ORDER BY p.run_no DESC)
                      FROM page p),
                     'runs.' || COALESCE((SELECT min(run_no) FROM page HAVING count(*) = $1::bigint),
                                         (SELECT s.run_no FROM seen s ORDER BY s.run_no DESC OFFSET 10000 LIMIT 1)),
                     CASE WHEN (SELECT a.most FROM asked a) = 10001 THEN (SELECT count(*) FROM found)
                          WHEN $3::text IS NULL THEN (
                              SELECT count(*) FROM (SELECT FROM lockstep.run r ORDER BY r.run_no DESC LIMIT 10001) c)
                          ELSE (SELECT count(*)
                                FROM (SELECT FROM lockstep.run r
                                      WHERE r.queue_id = (SELECT a.queue_id FROM asked a)
                                      LIMIT 10001) c) END) AS document;
