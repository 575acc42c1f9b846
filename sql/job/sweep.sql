-- job_sweep :one  a batch of what is not kept of jobs goes
-- columns: deleted
SELECT lockstep.job_sweep() AS deleted;
