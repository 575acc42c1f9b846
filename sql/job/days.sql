-- job_days :many  the times of job $1 (NULL: of all) by day, the newest $2, the newest last; longest and latest in
-- seconds
-- columns: job, day, times, fired, completed, failed, skipped, missed, errors, passed, seconds, longest, latest
SELECT h.job, h.day, h.times, h.fired, h.completed, h.failed, h.skipped, h.missed, h.errors, h.passed,
       round(extract(epoch FROM h.duration)::numeric, 3) AS seconds,
       round(extract(epoch FROM h.longest)::numeric, 3) AS longest,
       round(extract(epoch FROM h.latest)::numeric, 3) AS latest
FROM (SELECT d.*
      FROM lockstep.job_day d
      WHERE $1::text IS NULL OR d.job = $1::text ORDER BY d.day DESC, d.job LIMIT $2::bigint) AS h
ORDER BY h.day, h.job;
