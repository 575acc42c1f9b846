-- console_calendar :one  of $1 jobs behind the name $2, by name, with $3 in their name, of queue $4 (NULL: any): their
-- schedules in words, and when they fire in the coming week: by quarters of an hour since 1970, with how often. Of a
-- job that fires more than 170 times (`often`) only the first ones, up to `until`
-- columns: document
WITH found AS NOT MATERIALIZED (
    SELECT j.job_id, j.name FROM lockstep.job j
    WHERE ($3::text IS NULL OR strpos(lower(j.name), lower($3::text)) > 0)
      AND ($4::text IS NULL OR j.queue_id = (SELECT q.queue_id FROM lockstep.queue q WHERE q.name = $4::text))),
page AS MATERIALIZED (
    SELECT f.job_id, f.name FROM found f WHERE f.name > COALESCE($2::text, '') ORDER BY f.name LIMIT $1::bigint)
SELECT lockstep.page((SELECT json_agg(
                                 json_build_object(
                                     'job', p.name,
                                     'words', COALESCE(
                                         (SELECT json_agg(lockstep.schedule_words(s.schedule_id) ORDER BY s.schedule_id)
                                          FROM lockstep.schedule s
                                          WHERE s.job_id = p.job_id AND (s.rows_rule).relation IS NULL),
                                         '[]'::json),
                                     'often', w.until IS NOT NULL, 'until', w.until,
                                     'quarters', w.quarters) ORDER BY p.name)
                      FROM page p
                      CROSS JOIN LATERAL lockstep.job_week(p.job_id) w),
                     (SELECT 'calendar.' || max(name) FROM page HAVING count(*) = $1::bigint),
                     (SELECT count(*) FROM (SELECT FROM found LIMIT 10001) c)) AS document;
