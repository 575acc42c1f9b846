-- console_schedules :one  $1 schedules of jobs behind number $2, those of jobs with $3 in their name (NULL: any), in
-- the order in which they were made. The first 100 of a page are said in words, too
-- columns: document
WITH found AS MATERIALIZED (
    SELECT s.schedule_id
    FROM lockstep.schedule s
    WHERE (s.rows_rule).relation IS NULL
      AND ($3::text IS NULL
           OR EXISTS (SELECT FROM lockstep.job j
                      WHERE j.job_id = s.job_id AND strpos(lower(j.name), lower($3::text)) > 0))),
page AS MATERIALIZED (
    SELECT f.schedule_id, row_number() OVER (ORDER BY f.schedule_id) AS nth
    FROM (SELECT b.schedule_id
          FROM found b WHERE b.schedule_id > COALESCE($2::bigint, 0) ORDER BY b.schedule_id LIMIT $1::bigint) f)
SELECT lockstep.page((SELECT json_agg(lockstep.schedule_document(p.schedule_id, p.nth <= 100) ORDER BY p.schedule_id)
                      FROM page p),
                     (SELECT 'schedules.' || max(schedule_id) FROM page HAVING count(*) = $1::bigint),
                     (SELECT count(*) FROM (SELECT FROM found LIMIT 10001) c)) AS document;
