-- control_run_end :one  closes run $1 of queue $3, whose end never comes, because of $2
-- columns: queue, run_id, status, unfinished
SELECT $3::text AS queue, $1::uuid AS run_id, e.status, e.unfinished
FROM lockstep.run_end($1::uuid, $2::text, $3::text) AS e;
