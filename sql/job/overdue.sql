-- job_overdue :many  cancels runs of jobs that are too long or zombies
-- columns: job, run, why
SELECT o.job, o.run, o.why FROM lockstep.job_overdue() AS o;
