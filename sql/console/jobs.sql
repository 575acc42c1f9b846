-- console_jobs :one  $1 jobs behind the name $2, by name: those with $3 in their name, of queue $4 (NULL: any); if they
-- are at most 100 also how they do, and when they fire in words. If $5 with the texts of errors
-- columns: document
WITH found AS (
    SELECT j.name FROM lockstep.job j
    WHERE ($3::text IS NULL OR strpos(lower(j.name), lower($3::text)) > 0)
      AND ($4::text IS NULL OR j.queue_id = (SELECT q.queue_id FROM lockstep.queue q WHERE q.name = $4::text))),
page AS MATERIALIZED (
    SELECT f.name FROM found f WHERE f.name > COALESCE($2::text, '') ORDER BY f.name LIMIT $1::bigint),
health AS MATERIALIZED (
    SELECT h.job, h.state, h.is_problem, lockstep.shown('job ' || h.state, h.detail, $5::boolean) AS detail
    FROM lockstep.job_health h WHERE $1::bigint <= 100 AND h.job = ANY (ARRAY(SELECT p.name FROM page p))),
words AS MATERIALIZED (
    SELECT j.name AS job, w.words
    FROM lockstep.job j
    CROSS JOIN LATERAL (
        SELECT string_agg(lockstep.schedule_words(k.schedule_id), '; ' ORDER BY k.schedule_id) AS words
        FROM (SELECT b.schedule_id
              FROM lockstep.schedule b WHERE b.job_id = j.job_id ORDER BY b.schedule_id LIMIT 5) k) w
    WHERE $1::bigint <= 100 AND j.name = ANY (ARRAY(SELECT p.name FROM page p)))
SELECT lockstep.page((SELECT json_agg(i ORDER BY i.job)
                      FROM (SELECT s.*, h.state, h.is_problem, h.detail, w.words
                            FROM lockstep.job_status s LEFT JOIN health h USING (job) LEFT JOIN words w USING (job)
                            WHERE s.job = ANY (ARRAY(SELECT name FROM page))) i),
                     (SELECT 'jobs.' || max(name) FROM page HAVING count(*) = $1::bigint),
                     (SELECT count(*) FROM (SELECT FROM found LIMIT 10001) c)) AS document;
