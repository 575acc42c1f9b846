-- job_log :many  the newest $2 lines of the log of job $1 (NULL: of all), the newest last
-- columns: at, job, event, source, message, run_id, seconds
SELECT l.at, l.job, l.event, l.source, l.message, l.run_id, round(extract(epoch FROM l.duration)::numeric, 3) AS seconds
FROM (SELECT e.* FROM lockstep.job_log e WHERE $1::text IS NULL OR e.job = $1::text ORDER BY e.job_event_id DESC LIMIT $2::bigint) AS l ORDER BY l.job_event_id;
