-- job_apply :many  makes the jobs that the JSON $1 of file $2 declares: a list, an object with the field jobs, or one
-- job; $3 only reports, $4 prunes all but the jobs $6, $5 overwrites changes by hand
-- columns: job, action, detail
-- words of action: create, change, unchanged, kept, delete
SELECT a.job, a.action, a.detail
FROM lockstep.job_apply(specs => CASE WHEN jsonb_typeof($1::jsonb) = 'array' THEN $1::jsonb
                             WHEN $1::jsonb ? 'jobs' THEN $1::jsonb -> 'jobs' ELSE jsonb_build_array($1::jsonb) END,
                        file => $2::text, dry_run => $3::boolean, prune => $4::boolean, force => $5::boolean,
                        elsewhere => $6::text[]) AS a;
