-- console_run_cancel :one  cancels run $1, because of $2
-- columns: document
SELECT json_build_object('run_id', $1::uuid, 'status', c.status, 'cancelled', c.cancelled,
                         'stopping', c.stopping) AS document
FROM lockstep.run_cancel($1::uuid, $2::text) AS c;
