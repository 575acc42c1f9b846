-- console_forecast :one  the next $1 times of job $2 (NULL: of all), behind place $3 (a second, and how many of its
-- times were said), from $4 (NULL: now) until $5 (NULL: however far); count: of those that are said here
-- columns: document
WITH place AS MATERIALIZED ( -- seconds since the year 1, which has no time before it
    SELECT CASE WHEN $3::text IS NULL THEN $4::timestamptz
                ELSE GREATEST($4::timestamptz,
                              to_timestamp(LEAST(split_part($3::text, '_', 1)::bigint, 315537897599) - 62135596800))
           END AS at,
           LEAST(COALESCE(split_part($3::text, '_', 2)::bigint, 0), 99000) AS said),
page AS MATERIALIZED (
    SELECT f.at, f.job_name, f.schedule, f.local, f.no, floor(date_part('epoch', f.at))::bigint AS second
    FROM place p
    CROSS JOIN LATERAL (
        SELECT t.at, t.job_name, t.schedule, t.local, row_number() OVER (ORDER BY t.at, t.job_name) AS no
        FROM lockstep.job_forecast(job => $2::text, "from" => p.at, until => $5::timestamptz,
                                   n => ($1::bigint + p.said)::int) AS t) f
    WHERE f.no > p.said),
ends AS (SELECT l.second FROM page l ORDER BY l.no DESC LIMIT 1)
SELECT lockstep.page(
    (SELECT json_agg(json_build_object('at', p.at, 'job', p.job_name, 'schedule', p.schedule, 'local', p.local)
                     ORDER BY p.no) FROM page p),
    (SELECT 'forecast.' || e.second + 62135596800 || '_'
            || (SELECT count(*) FROM page p WHERE p.second = e.second) -- and those of this second that were said before
             + CASE WHEN $3::text IS NOT NULL THEN (
                   SELECT COALESCE(sum(p.said), 0)::bigint FROM place p
                   WHERE floor(date_part('epoch', p.at))::bigint = e.second) ELSE 0 END
     FROM ends e WHERE (SELECT count(*) FROM page) = $1::bigint),
    (SELECT count(*) FROM page)) AS document;
