-- task_attempts :many  the attempts of task $1 that did not end it well
-- columns: attempt, status, executor_id, worker, started_at, ended_at, sqlstate, error, detail, hint, context, rows,
--          notices
SELECT a.attempt, CASE WHEN a.status = 'Pending' THEN 'lost' ELSE a.status::text END AS status, e.executor_id, a.worker,
       a.started_at, a.ended_at, a.sqlstate, a.error, a.detail, a.hint, a.context, a.rows, a.notices
FROM lockstep.task_attempt a
LEFT JOIN lockstep.executor e ON e.executor_no = a.executor_no
WHERE a.task_id = $1::bigint
ORDER BY a.attempt;
