-- console_calendar :one  of $1 jobs behind the name $2, by name, with $3 in their name, of queue $4 (NULL: any): their
-- schedules in words, and when they fire in the coming week: by quarters of an hour since 1970, with how often. Of a
-- job that fires more than 170 times (`often`) only the first ones, up to `until`
-- columns: document
WITH found AS (
    SELECT j.job_id, j.name FROM lockstep.job j
    WHERE ($3::text IS NULL OR strpos(lower(j.name), lower($3::text)) > 0)
      AND ($4::text IS NULL OR j.queue_id = (SELECT q.queue_id FROM lockstep.queue q WHERE q.name = $4::text))),
page AS MATERIALIZED (
    SELECT f.job_id, f.name FROM found f WHERE f.name > COALESCE($2::text, '') ORDER BY f.name LIMIT $1::bigint),
firing AS MATERIALIZED (
    SELECT p.name, f.at, row_number() OVER (PARTITION BY p.name ORDER BY f.at) AS no
    FROM page p CROSS JOIN LATERAL lockstep.job_forecast(
        job => p.name, "from" => NULL, until => now() + interval '7 days', n => 171) f),
quarter AS (
    SELECT f.name, floor(date_part('epoch', f.at) / 900)::bigint AS quarter, count(*) AS n
    FROM firing f WHERE f.no <= 170 GROUP BY f.name, 2)
SELECT lockstep.page((SELECT json_agg(
                                 json_build_object(
                                     'job', p.name,
                                     'words', COALESCE(
                                         (SELECT json_agg(lockstep.schedule_words(s.schedule_id) ORDER BY s.schedule_id)
                                          FROM lockstep.schedule s
                                          WHERE s.job_id = p.job_id AND (s.rows_rule).relation IS NULL),
                                         '[]'::json),
                                     'often', EXISTS (SELECT FROM firing f WHERE f.name = p.name AND f.no > 170),
                                     'until', (SELECT f.at FROM firing f WHERE f.name = p.name AND f.no = 171),
                                     'quarters', COALESCE(
                                         (SELECT json_agg(json_build_array(q.quarter, q.n) ORDER BY q.quarter)
                                          FROM quarter q WHERE q.name = p.name),
                                         '[]'::json)) ORDER BY p.name)
                      FROM page p),
                     (SELECT 'calendar.' || max(name) FROM page HAVING count(*) = $1::bigint),
                     (SELECT count(*) FROM (SELECT FROM found LIMIT 10001) c)) AS document;
