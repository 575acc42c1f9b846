-- queue_delete :one  deletes queue $1 with its runs, tasks and records; because of $2; counts its tasks
-- columns: tasks
SELECT lockstep.queue_delete($1::int, $2::text) AS tasks;
