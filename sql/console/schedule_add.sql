-- console_schedule_add :one  adds the schedule $2 to job $1, if it is of version $3 (NULL: whichever), because of $4
-- columns: document
SELECT json_build_object('job', $1::text, 'schedule', $2::jsonb ->> 'name', 'version', s.version) AS document
FROM (SELECT lockstep.schedule_add($1::text, $2::jsonb, $3::int) AS version OFFSET 0) AS s
    CROSS JOIN LATERAL lockstep.job_why($1::text, format('schedule %s added', $2::jsonb ->> 'name'), $4::text);
