-- reader_step_done :one  records in a step's transaction that it is done: task_id, token, name of the next step;
-- continue?
-- columns: go_on
SELECT lockstep.step_done($1::bigint, $2::uuid, $3::text) AS go_on;
