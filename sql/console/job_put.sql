-- console_job_put :one  gives job $1 the definition $2, if it is of version $3 (NULL: any); if $4 only reports the
-- effect; because of $5
-- columns: document
SELECT lockstep.job_put($1::text, $2::jsonb, $3::int, $4::boolean, $5::text) AS document;
