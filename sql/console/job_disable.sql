-- console_job_disable :one  disables job $1, if it is of version $2 (NULL: whichever), because of $3; changed: it was
-- not so already
-- columns: document
WITH own AS MATERIALIZED (SELECT j.version FROM lockstep.job j WHERE j.name = $1::text)
SELECT json_build_object('job', $1::text, 'version', s.version, 'changed', w.done) AS document
FROM (SELECT lockstep.job_set($1::text, '{"enabled": false}'::jsonb, $2::int) AS version OFFSET 0) AS s
CROSS JOIN LATERAL (SELECT s.version IS DISTINCT FROM (SELECT o.version FROM own o) AS done OFFSET 0) AS w
LEFT JOIN LATERAL (SELECT lockstep.job_why($1::text, 'disabled', $3::text) WHERE w.done OFFSET 0) AS y ON true;
