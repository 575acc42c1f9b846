-- job_requests :many  the firings of job $1 that wait for a dispatcher, the oldest request first
-- columns: schedule, scheduled_for, source, run_id, next_try, failing_since
SELECT r.schedule_name AS schedule, r.scheduled_for, r.source, r.run_id, r.next_try, r.failing_since
FROM lockstep.job_requests($1::text) AS r;
