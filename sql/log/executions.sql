-- log_executions :many  attempts of run $1, queue $2 (NULL: all), the newest $3, by start; an attempt that
-- never began by its end
-- columns: queue, run_id, order, previous_order, seq, task_id, attempt, type, status, started_at, ended_at, seconds,
--          executor_id, error
SELECT v.queue, v.run_id, v."order", v.previous_order, v.seq, v.task_id, v.attempt, v.type, v.status, v.started_at,
       v.ended_at, v.seconds, v.executor_id, v.error
FROM (
    SELECT l.queue, l.run_id, l."order", l.previous_order, l.seq, l.task_id, l.attempt, l.type, l.status, l.started_at,
           l.ended_at, round(extract(epoch FROM l.duration)::numeric, 6) AS seconds, l.executor_id, l.error
    FROM lockstep.execution_log l
    WHERE ($1::bigint IS NULL
           OR (l.run_id = (SELECT r.run_id FROM lockstep.run r WHERE r.run_no = $1::bigint)
               AND l.queue = (SELECT q.name
                              FROM lockstep.run r JOIN lockstep.queue q USING (queue_id) WHERE r.run_no = $1::bigint)))
      AND ($2::text IS NULL OR l.queue = $2::text)
    ORDER BY COALESCE(l.started_at, l.ended_at) DESC NULLS LAST LIMIT $3::bigint) v
ORDER BY COALESCE(v.started_at, v.ended_at) NULLS FIRST, v.task_id;
