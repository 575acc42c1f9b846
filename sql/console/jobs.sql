-- console_jobs :one  $1 jobs behind the name $2, by name: those with $3 in their name, of queue $4 (NULL: any)
-- columns: document
WITH found AS (
    SELECT j.name FROM lockstep.job j
    WHERE ($3::text IS NULL OR strpos(lower(j.name), lower($3::text)) > 0)
      AND ($4::text IS NULL OR j.queue_id = (SELECT q.queue_id FROM lockstep.queue q WHERE q.name = $4::text))),
page AS MATERIALIZED (SELECT f.name FROM found f WHERE f.name > COALESCE($2::text, '') ORDER BY f.name LIMIT $1::bigint)
SELECT lockstep.page((SELECT json_agg(i ORDER BY i.job) FROM (SELECT s.* FROM lockstep.job_status s WHERE s.job = ANY (ARRAY(SELECT name FROM page))) i),
                     (SELECT 'jobs.' || max(name) FROM page HAVING count(*) = $1::bigint),
                     (SELECT count(*) FROM (SELECT FROM found LIMIT 10001) c)) AS document;
