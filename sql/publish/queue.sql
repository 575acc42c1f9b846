-- publish_queue :maybe  the queue named $1: queue_id, topic, partition, on_failure, cluster_id, partitions of its topic
-- (0: not known)
-- columns: queue_id, topic, partition, on_failure, cluster_id, partitions
SELECT queue_id, topic, partition, on_failure, cluster_id, COALESCE(partitions, 0) AS partitions
FROM lockstep.queue WHERE name = $1::text;
