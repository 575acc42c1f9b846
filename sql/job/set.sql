-- job_set :one  changes the fields $2 of job $1, if it is of version $3 (NULL: any)
-- columns: version
SELECT lockstep.job_set($1::text, $2::jsonb, $3::int) AS version;
