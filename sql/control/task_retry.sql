-- control_task_retry :one  task retry of $1, because of $2
-- columns: id, status
SELECT $1::bigint AS id, t.status FROM lockstep.task_retry($1::bigint, $2::text) AS t (status);
