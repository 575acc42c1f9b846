-- console_job_next :maybe  the next $2 times of job $1
-- columns: document
SELECT lockstep.page((SELECT json_agg(json_build_object(
                                          'at', f.at, 'job', f.job_name, 'schedule', f.schedule, 'local', f.local)
                                      ORDER BY f.at, f.schedule)
                      FROM lockstep.job_forecast(job => n.name, n => $2::int) AS f),
                     NULL, $2::bigint) AS document
FROM (SELECT j.name FROM lockstep.job j WHERE j.name = $1::text) n;
