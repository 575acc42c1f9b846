-- console_task :maybe  task $1, with its attempts that did not end it well, and, if $2, its key, its payload, and the
-- texts of its errors and notices
-- columns: document
SELECT json_build_object(
           'task', (
               SELECT to_json(i)
               FROM (
                   SELECT t.task_id, q.name AS queue, r.run_id, r.name AS run, t."order", t.seq, t.name, t.type,
                          t.status, t.step, t.attempt_num AS attempt, t.max_attempts, t.lost_num AS lost, t.started_at,
                          lockstep.seconds(CASE WHEN t.status = 'Processing' THEN clock_timestamp() - t.started_at
                                                ELSE t.duration END) AS seconds,
                          CASE WHEN t.status <> 'Processing' THEN t.started_at + t.duration END AS ended_at,
                          t.scheduled_for, lockstep.shown('error', t.error, $2::boolean) AS error,
                          t.kafka_offset AS "offset", CASE WHEN $2::boolean THEN t.key END AS key, t.condition,
                          t.skipped, t.needs, t.worker, t.lease_until, t.rows,
                          CASE WHEN $2::boolean THEN t.notices END AS notices, t.cancelled_by,
                          t.traceparent, e.executor_id, e.host, t.backend_pid,
                          CASE WHEN $2::boolean THEN t.payload END AS payload,
                          CASE WHEN $2::boolean THEN t.response END AS response, NOT $2::boolean AS hidden) i),
           'attempts', COALESCE(
               (SELECT json_agg(json_build_object(
                                    'attempt', a.attempt,
                                    'status', CASE WHEN a.status = 'Pending' THEN 'lost' ELSE a.status::text END,
                                    'executor_id', x.executor_id, 'worker', a.worker, 'started_at', a.started_at,
                                    'ended_at', a.ended_at, 'seconds', lockstep.seconds(a.ended_at - a.started_at),
                                    'sqlstate', a.sqlstate, 'error', lockstep.shown('error', a.error, $2::boolean),
                                    'detail', CASE WHEN $2::boolean THEN a.detail END,
                                    'hint', CASE WHEN $2::boolean THEN a.hint END,
                                    'context', CASE WHEN $2::boolean THEN a.context END, 'rows', a.rows,
                                    'notices', CASE WHEN $2::boolean THEN a.notices END) ORDER BY a.attempt)
                FROM lockstep.task_attempt a LEFT JOIN lockstep.executor x ON x.executor_no = a.executor_no
                WHERE a.task_id = t.task_id),
               '[]'::json)) AS document
FROM lockstep.task t
JOIN lockstep.run r USING (run_no)
JOIN lockstep.queue q ON q.queue_id = t.queue_id
LEFT JOIN lockstep.executor e ON e.executor_no = t.executor_no
WHERE t.task_id = $1::bigint;
