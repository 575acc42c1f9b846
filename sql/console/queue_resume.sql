-- console_queue_resume :one  continues queue $1, because of $2; changed: it was paused before
-- columns: document
-- no other session changes it between this and the function
WITH own AS MATERIALIZED (SELECT q.name, q.paused FROM lockstep.queue q WHERE q.name = $1::text FOR NO KEY UPDATE)
SELECT json_build_object('queue', $1::text, 'paused', false, 'changed', o.paused IS DISTINCT FROM false) AS document
FROM (SELECT 1) AS x
LEFT JOIN own o ON true CROSS JOIN LATERAL lockstep.queue_resume(COALESCE(o.name, $1::text), $2::text) AS h (n);
