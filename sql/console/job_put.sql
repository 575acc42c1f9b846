-- console_job_put :one  makes job $1 what $2 says, if it is of version $3 (NULL: whichever); if $4 only says what that
-- would do; because of $5
-- columns: document
SELECT lockstep.job_put($1::text, $2::jsonb, $3::int, $4::boolean, $5::text) AS document;
