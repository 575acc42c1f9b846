-- control_run_retry :one  retries run $1 of queue $3, because of $2: how many tasks in how many phases, from which
-- order on
-- columns: queue, run_id, tasks, phases, order
SELECT $3::text AS queue, $1::uuid AS run_id, t.tasks, t.phases, t."order"
FROM lockstep.run_retry($1::uuid, $2::text, $3::text) AS t;
