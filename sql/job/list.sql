-- job_list :many  the jobs of queue $1 (NULL: all)
-- columns: job, queue, mode, enabled, next_at, last_scheduled, last_outcome, last_status, open_run, overlap, version,
--          schedules, drifted, file, changed_at, changed_by, description
SELECT s.job, s.queue, s.mode, s.enabled, s.next_at, s.last_scheduled, s.last_outcome, s.last_status, s.open_run,
       s.overlap, s.version, s.schedules, s.drifted, s.file, s.changed_at, s.changed_by, s.description
FROM lockstep.job_status s WHERE $1::text IS NULL OR s.queue = $1::text ORDER BY s.job;
