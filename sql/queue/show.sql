-- queue_show :one  everything about queue $1; log end $2 (NULL: Kafka did not answer)
SELECT q.name, q.topic, q.partition, q.next_offset, $2::bigint AS log_end,
       CASE WHEN $2::bigint >= q.next_offset THEN $2::bigint - q.next_offset END AS lag,
       q.max_readers, (SELECT COALESCE(sum(r.in_use), 0) FROM lockstep.reader_status r WHERE r.queue = q.name) AS in_use,
       q.on_failure, q.runs, q.max_attempts, array_to_string(q.retry_intervals, ',') AS retry_intervals, q.lookahead,
       q.paused, q.paused_by, q.paused_at, q.halted_reason, q.halted_detail, q.halted_at, q.cluster_id,
       (SELECT count(*) FROM lockstep.run r WHERE r.queue_id = q.queue_id AND r.ended_at IS NULL) AS active_runs,
       (SELECT count(*) FROM lockstep.rejected_message m WHERE m.queue_id = q.queue_id) AS rejected,
       q.created_at, q.updated_at
FROM lockstep.queue q
WHERE q.queue_id = $1::int;
