-- reader_step_begin :one  an attempt at a task with steps begins: task_id, token, name of its first step; at which
-- step, and when
-- columns: step, started_at
SELECT b.step, b.started_at FROM lockstep.step_begin($1::bigint, $2::uuid, $3::text) AS b;
