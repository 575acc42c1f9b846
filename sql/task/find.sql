-- task_find :maybe  task $1 with everything
-- columns: id, queue, run_id, order, previous_order, seq, offset, name, type, status, attempt, max_attempts, lost,
--          step, response, error, rows, notices, scheduled_for, started_at, duration, seconds, updated_at, executor_id,
--          worker, lease_until, traceparent, payload
SELECT t.task_id AS id, q.name AS queue, r.run_id, t."order", p.previous_order, t.seq, t.kafka_offset AS "offset",
       t.name, t.type, t.status, t.attempt_num AS attempt, t.max_attempts, t.lost_num AS lost, t.step, t.response,
       t.error, t.rows, t.notices, t.scheduled_for, t.started_at, t.duration,
       round(extract(epoch FROM t.duration)::numeric, 3) AS seconds, t.updated_at, e.executor_id, t.worker,
       t.lease_until, t.traceparent, t.payload
FROM lockstep.task t
JOIN lockstep.phase p USING (phase_id)
JOIN lockstep.run r ON r.run_no = t.run_no
JOIN lockstep.queue q ON q.queue_id = t.queue_id
LEFT JOIN lockstep.executor e ON e.executor_no = t.executor_no
WHERE t.task_id = $1::bigint;
