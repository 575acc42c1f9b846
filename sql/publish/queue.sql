-- publish_queue :maybe  the queue named $1: queue_id, topic, partition, on_failure, cluster_id, partitions of its topic
-- (0: not known); is_copy: nothing may be published from this database
-- columns: queue_id, topic, partition, on_failure, cluster_id, partitions, is_copy
SELECT q.queue_id, q.topic, q.partition, q.on_failure, q.cluster_id, COALESCE(q.partitions, 0) AS partitions,
       lockstep.queue_is_copy(q) AS is_copy
FROM lockstep.queue q WHERE q.name = $1::text;
