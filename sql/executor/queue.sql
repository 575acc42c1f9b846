-- executor_queue :maybe  what an executor needs to know of a queue, by name
-- columns: queue_id, topic, partition, next_offset, max_readers, paused, cluster_id, last_offset, last_timestamp,
--          last_digest, halted_reason, halted_detail, halt_no, partitions, mark, mark_age_s, blocked_offset, keeps,
--          lookahead
SELECT queue_id, topic, partition, next_offset, max_readers, paused, cluster_id, last_offset, last_timestamp,
       encode(last_digest, 'hex') AS last_digest, halted_reason, halted_detail, halt_no,
       COALESCE(partitions, 0) AS partitions, mark,
       extract(epoch FROM clock_timestamp() - marked_at)::bigint AS mark_age_s, blocked_offset,
       concat_ws(' ', 'runs ' || keep_runs, 'days ' || keep_days, 'failed_days ' || keep_failed_days) AS keeps,
       lookahead
FROM lockstep.queue WHERE name = $1::text;
