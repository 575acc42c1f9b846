-- queue_delete :one  deletes queue $1 with its runs, tasks and records; counts its tasks
-- columns: tasks
SELECT lockstep.queue_delete($1::int) AS tasks;
