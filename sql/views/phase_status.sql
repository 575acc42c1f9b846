-- Each phase, and how far it is. Promised to users: a column keeps its name and meaning; new ones go to the end.
CREATE OR REPLACE VIEW lockstep.phase_status AS
SELECT r.run_id, p."order", p.previous_order, c.tasks, c.finished, p.opened_at, p.done_at, q.name AS queue,
       c.processing, c.completed, c.failed, c.cancelled, c.error, c.first_start, c.last_end, p.phase_id, r.run_no
FROM lockstep.phase p
JOIN lockstep.run r USING (run_no)
JOIN lockstep.queue q ON q.queue_id = p.queue_id
CROSS JOIN LATERAL (
    SELECT count(*) AS tasks,
           count(*) FILTER (WHERE s.is_finished) AS finished,
           count(*) FILTER (WHERE t.status = 'Processing') AS processing,
           count(*) FILTER (WHERE t.status = 'Completed') AS completed,
           count(*) FILTER (WHERE lockstep.is_failed(t.status)) AS failed,
           count(*) FILTER (WHERE t.status = 'Cancelled') AS cancelled,
           count(*) FILTER (WHERE t.status = 'Error') AS error,
           min(t.started_at) AS first_start, max(t.started_at + t.duration) AS last_end
    FROM lockstep.task t JOIN lockstep.task_status s USING (status) WHERE t.phase_id = p.phase_id) c;
GRANT SELECT ON lockstep.phase_status TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
