-- control_run_cancel :one  cancels run $1 of queue $3, because of $2
-- columns: queue, run_id, status, cancelled, stopping
SELECT $3::text AS queue, $1::uuid AS run_id, c.status, c.cancelled, c.stopping
FROM lockstep.run_cancel($1::uuid, $2::text, $3::text) AS c;
