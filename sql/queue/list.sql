-- queue_list :many  the queues
-- columns: name, topic, partition, next_offset, max_readers, in_use, on_failure, runs, state, active_runs,
--          halted_reason, lag
SELECT q.name, q.topic, q.partition, q.next_offset, q.max_readers,
       (SELECT COALESCE(sum(r.in_use), 0) FROM lockstep.reader_status r WHERE r.queue = q.name) AS in_use,
       q.on_failure, q.runs,
       CASE WHEN q.halted_at IS NOT NULL THEN 'halted' WHEN q.paused THEN 'paused' ELSE 'open' END AS state,
       (SELECT count(*) FROM lockstep.run r WHERE r.queue_id = q.queue_id AND r.ended_at IS NULL) AS active_runs,
       q.halted_reason, lockstep.queue_lag(q.name, q.next_offset) AS lag
FROM lockstep.queue q
ORDER BY q.name;
