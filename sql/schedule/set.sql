-- schedule_set :one  changes the fields $3 of schedule $2 of job $1, if the job is of version $4 (NULL: any)
-- columns: version
SELECT lockstep.schedule_set($1::text, $2::text, $3::jsonb, $4::int) AS version;
