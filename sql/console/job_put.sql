-- console_job_put :one  gives job $1 the definition $2, if it is of version $3 (NULL: any); if $4 only reports the
-- effect; because of $5
-- columns: document
SELECT lockstep.job_put(job => $1::text, definition => $2::jsonb, version => $3::int, dry_run => $4::boolean,
                        reason => $5::text) AS document;
