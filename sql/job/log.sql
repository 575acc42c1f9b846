-- job_log :many  the newest $2 lines of the log of job $1 (NULL: of all), the newest last
-- columns: at, job, event, source, message, run_id, seconds
-- Two questions, because each has an index: one of the two is not asked.
SELECT l.at, l.job, l.event, l.source, l.message, l.run_id, round(extract(epoch FROM l.duration)::numeric, 3) AS seconds
FROM lockstep.job_log l
WHERE l.job_event_id = ANY (
          CASE WHEN $1::text IS NULL THEN ARRAY(SELECT e.job_event_id
                                                FROM lockstep.job_event e ORDER BY e.job_event_id DESC LIMIT $2::bigint)
               ELSE ARRAY(SELECT e.job_event_id
                          FROM lockstep.job_event e
                          WHERE e.job = $1::text ORDER BY e.at DESC, e.job_event_id DESC LIMIT $2::bigint) END)
ORDER BY l.job_event_id;
