-- job_open :maybe  an open run of job $1
-- columns: run_id
SELECT r.run_id FROM lockstep.run r JOIN lockstep.job j USING (job_id) WHERE j.name = $1::text AND r.ended_at IS NULL LIMIT 1;
