-- console_run_resume :one  continues run $1, because of $2
-- columns: document
SELECT json_build_object('run_id', $1::uuid, 'status', c.status) AS document
FROM lockstep.run_resume($1::uuid, $2::text) AS c (status);
