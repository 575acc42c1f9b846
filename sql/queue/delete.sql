-- queue_delete :one  deletes queue $1 with its runs, tasks and records; counts them
WITH gone AS (SELECT q.queue_id FROM lockstep.queue q WHERE q.queue_id = $1::int FOR UPDATE), -- no claim runs beside us
attempts AS (
    DELETE FROM lockstep.task_attempt a USING lockstep.task t, gone g
    WHERE a.task_id = t.task_id AND t.queue_id = g.queue_id),
tasks AS (DELETE FROM lockstep.task t USING gone g WHERE t.queue_id = g.queue_id RETURNING t.task_id),
queues AS (DELETE FROM lockstep.queue q USING gone g WHERE q.queue_id = g.queue_id RETURNING q.queue_id, q.name),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_deleted', d.queue_id, d.name FROM queues d)
SELECT (SELECT count(*) FROM tasks) AS tasks, pg_notify('lockstep_' || $1::int, 'control')::text AS told;
