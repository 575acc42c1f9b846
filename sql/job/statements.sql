-- job_statements :many  the statements of users in the JSON $1 of a file, each to be checked as the tasks' login
-- columns: job, field, statement, words, makes_tasks
SELECT s.job, s.field, s.statement, s.words, s.makes_tasks
FROM lockstep.job_statements(CASE WHEN jsonb_typeof($1::jsonb) = 'array' THEN $1::jsonb
                                  WHEN $1::jsonb ? 'jobs' THEN $1::jsonb -> 'jobs'
                                  ELSE jsonb_build_array($1::jsonb) END) AS s;
