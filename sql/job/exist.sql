-- job_exist :one  is there any job?
-- columns: any
SELECT EXISTS (SELECT FROM lockstep.job) AS any;
