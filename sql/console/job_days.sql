-- console_job_days :maybe  $1 days (UTC) of job $2 before day $3 (its number; NULL: any), the newest first: the sums of
-- its times, also of those that are not kept; durations in seconds
-- columns: document
WITH days AS MATERIALIZED (
    SELECT d.day, d.times, d.fired, d.completed, d.failed, d.skipped, d.missed, d.errors, d.passed,
           lockstep.seconds(d.duration) AS seconds, lockstep.seconds(d.longest) AS longest,
           lockstep.seconds(d.latest) AS latest
    FROM lockstep.job_day d
    WHERE d.job = $2::text AND d.day < date '0001-01-01' + LEAST(COALESCE($3::bigint, 3652059), 3652059)::int),
page AS MATERIALIZED (SELECT s.* FROM days s ORDER BY s.day DESC LIMIT $1::bigint)
SELECT lockstep.page(
    (SELECT json_agg(p ORDER BY p.day DESC) FROM page p),
    (SELECT 'days.' || min(p.day) - date '0001-01-01' FROM page p HAVING count(*) = $1::bigint),
    (SELECT count(*) FROM days)) AS document
FROM (SELECT j.job_id FROM lockstep.job j WHERE j.name = $2::text) n;
