-- publish_queue :maybe  the queue named $1: queue_id, topic, partition, on_failure, cluster_id
SELECT queue_id, topic, partition, on_failure, cluster_id FROM lockstep.queue WHERE name = $1::text;
