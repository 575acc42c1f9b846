-- console_task_cancel :one  cancels task $1, because of $2
-- columns: document
SELECT json_build_object('task_id', $1::bigint, 'status', t.status) AS document
FROM lockstep.task_cancel($1::bigint, $2::text) AS t (status);
