-- console_queues :one  all queues
-- columns: document
SELECT lockstep.page(json_agg(i ORDER BY i.name), NULL, count(*)) AS document
FROM (SELECT q.name, q.topic, q.partition, q.next_offset, q.max_readers,
             (SELECT COALESCE(sum(r.in_use), 0) FROM lockstep.reader_status r WHERE r.queue = q.name) AS in_use, q.on_failure, q.runs,
             CASE WHEN q.halted_at IS NOT NULL THEN 'halted' WHEN q.paused THEN 'paused' ELSE 'open' END AS state,
             (SELECT count(*) FROM lockstep.run r WHERE r.queue_id = q.queue_id AND r.ended_at IS NULL) AS active_runs, q.halted_reason
      FROM lockstep.queue q) i;
