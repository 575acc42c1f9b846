-- publish_queue :maybe  the queue named $1: queue_id, topic, partition, on_failure, cluster_id, partitions of its topic (0: not known)
SELECT queue_id, topic, partition, on_failure, cluster_id, COALESCE(partitions, 0) FROM lockstep.queue WHERE name = $1::text;
