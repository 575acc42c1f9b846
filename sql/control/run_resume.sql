-- control_run_resume :one  lets run $1 of queue $3 continue, because of $2
-- columns: queue, run_id, status
SELECT $3::text AS queue, $1::uuid AS run_id, p.status
FROM lockstep.run_resume($1::uuid, $2::text, $3::text) AS p (status);
