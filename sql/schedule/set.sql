-- schedule_set :one  changes the fields $3 of schedule $2 of job $1, if the job is of version $4 (NULL: any)
-- columns: version
SELECT lockstep.schedule_set(job => $1::text, schedule => $2::text, change => $3::jsonb, version => $4::int) AS version;
