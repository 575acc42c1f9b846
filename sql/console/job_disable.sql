-- console_job_disable :one  disables job $1, because of $2
-- columns: document
SELECT json_build_object('job', $1::text, 'version', s.version) AS document
FROM (SELECT lockstep.job_set($1::text, '{"enabled": false}'::jsonb) AS version OFFSET 0) AS s CROSS JOIN LATERAL lockstep.job_why($1::text, 'disabled', $2::text);
