-- console_run_pause :one  pauses run $1, because of $2
-- columns: document
SELECT json_build_object('run_id', $1::uuid, 'status', c.status) AS document
FROM lockstep.run_pause($1::uuid, $2::text) AS c (status);
