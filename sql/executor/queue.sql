-- executor_queue :maybe  what an executor needs to know of a queue, by name
SELECT queue_id, topic, partition, next_offset, max_readers, paused, cluster_id, last_offset, last_timestamp,
       encode(last_digest, 'hex'), halted_reason, halted_detail
FROM lockstep.queue WHERE name = $1::text;
