-- job_dispatch :one  decides the schedule that is due, by dispatcher $1: a firing
-- columns: verdict, job, schedule, scheduled_for, run, reason, wait_ms
-- words of verdict: fire, skip, miss, queue, cancel, wait, error
SELECT d.verdict, d.job, d.schedule, d.scheduled_for, d.run, d.reason, d.wait_ms FROM lockstep.dispatch($1::text) AS d;
