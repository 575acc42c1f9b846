-- job_export :maybe  job $1 as a file for job apply declares it
-- columns: spec
SELECT jsonb_pretty(j.spec) AS spec FROM lockstep.job j WHERE j.name = $1::text;
