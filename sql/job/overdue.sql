-- job_overdue :one  cancels runs of jobs that are too long or zombies
-- columns: cancelled
SELECT lockstep.job_overdue() AS cancelled;
