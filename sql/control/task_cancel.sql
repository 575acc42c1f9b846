-- control_task_cancel :one  task cancel of $1, because of $2
-- columns: id, status
SELECT $1::bigint AS id, t.status FROM lockstep.task_cancel($1::bigint, $2::text) AS t (status);
