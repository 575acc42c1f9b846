-- Each attempt, and the task that it was of. The run's tasks are found by its phases: a task's run_no has no index. A
-- task that was declared done has made no attempt of its own for that, and so has no times (lockstep.task_complete).
-- Promised to users: a column keeps its name and meaning; new ones go to the end.
CREATE OR REPLACE VIEW lockstep.execution_log AS
SELECT q.name AS queue, r.run_id, t."order", p.previous_order, t.seq, t.task_id, t.attempt_num AS attempt, t.type,
       t.payload::json ->> 'sql' AS sql, t.status, t.started_at, t.started_at + t.duration AS ended_at, t.duration,
       e.executor_id, NULL::text AS error, NULL::text AS sqlstate, NULL::text AS detail, NULL::text AS context, t.name,
       t.worker, t.rows, t.notices
FROM lockstep.task t
JOIN lockstep.phase p USING (phase_id)
JOIN lockstep.run r ON r.run_no = p.run_no
JOIN lockstep.queue q ON q.queue_id = r.queue_id
LEFT JOIN lockstep.executor e ON e.executor_no = t.executor_no
WHERE t.status IN ('Completed', 'Processing') AND t.started_at IS NOT NULL
UNION ALL
SELECT q.name, r.run_id, t."order", p.previous_order, t.seq, t.task_id, a.attempt, t.type, t.payload::json ->> 'sql',
       a.status, a.started_at, a.ended_at, a.ended_at - a.started_at, e.executor_id, a.error, a.sqlstate, a.detail,
       a.context, t.name, COALESCE(a.worker, CASE WHEN a.attempt = t.attempt_num THEN t.worker END), a.rows, a.notices
FROM lockstep.task_attempt a
JOIN lockstep.task t USING (task_id)
JOIN lockstep.phase p USING (phase_id)
JOIN lockstep.run r ON r.run_no = p.run_no
JOIN lockstep.queue q ON q.queue_id = r.queue_id
LEFT JOIN lockstep.executor e ON e.executor_no = a.executor_no;
GRANT SELECT ON lockstep.execution_log TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
