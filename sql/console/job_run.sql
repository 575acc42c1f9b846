-- console_job_run :one  fires job $1 by hand with the parameters $2, because of $3; requested: a dispatcher does
-- columns: document
SELECT json_build_object('run_id', f.run,
                         'requested', (SELECT lockstep.job_has_sql(j.spec) FROM lockstep.job j WHERE j.name = $1::text))
       AS document
FROM (SELECT lockstep.job_run($1::text, $2::jsonb) AS run OFFSET 0) AS f
CROSS JOIN LATERAL lockstep.job_why($1::text, 'run ' || f.run, $3::text);
