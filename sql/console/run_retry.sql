-- console_run_retry :one  runs what did not complete of run $1 again, because of $2
-- columns: document
SELECT json_build_object('run_id', $1::uuid, 'tasks', c.tasks, 'phases', c.phases, 'order', c."order") AS document
FROM lockstep.run_retry($1::uuid, $2::text) AS c;
