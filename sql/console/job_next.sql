-- console_job_next :maybe  the next $2 times of job $1
-- columns: document
SELECT lockstep.page(f.items, NULL, f.found) AS document
FROM (SELECT j.name FROM lockstep.job j WHERE j.name = $1::text) n
CROSS JOIN LATERAL (SELECT json_agg(json_build_object(
                                        'at', t.at, 'job', t.job_name, 'schedule', t.schedule, 'local', t.local)
                                    ORDER BY t.at, t.schedule) AS items,
                           count(*) AS found
                    FROM lockstep.job_forecast(job => n.name, n => $2::int) AS t) f;
