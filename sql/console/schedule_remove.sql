-- console_schedule_remove :one  takes schedule $2 from job $1, if it is of version $3 (NULL: whichever), because of $4
-- columns: document
SELECT json_build_object('job', $1::text, 'schedule', $2::text, 'deleted', true, 'version', s.version) AS document
FROM (SELECT lockstep.schedule_remove($1::text, $2::text, $3::int) AS version OFFSET 0) AS s
    CROSS JOIN LATERAL lockstep.job_why($1::text, format('schedule %s removed', $2::text), $4::text);
