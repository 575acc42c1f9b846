-- console_schedule_set :one  changes the fields $3 of schedule $2 of job $1, if the job is of version $4 (NULL:
-- whichever), because of $5
-- columns: document
SELECT json_build_object('job', $1::text, 'schedule', $2::text, 'version', s.version) AS document
FROM (SELECT lockstep.schedule_set(job => $1::text, schedule => $2::text, change => $3::jsonb,
                                   version => $4::int) AS version OFFSET 0) AS s
    CROSS JOIN LATERAL lockstep.job_why($1::text, format('schedule %s changed', $2::text), $5::text);
