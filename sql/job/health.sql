-- job_health :many  how each job does; $1: only those that are a problem
-- columns: job, queue, state, is_problem, since, detail, next_at, open_run, last_run, last_status
SELECT h.job, h.queue, h.state, h.is_problem, h.since, h.detail, h.next_at, h.open_run, h.last_run, h.last_status
FROM lockstep.job_health h WHERE h.is_problem OR NOT $1::boolean ORDER BY h.is_problem DESC, h.job;
