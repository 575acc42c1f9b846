-- queue_find :maybe  the queue named $1
-- columns: queue_id, name, topic, partition, next_offset, cluster_id
SELECT q.queue_id, q.name, q.topic, q.partition, q.next_offset, q.cluster_id
FROM lockstep.queue q
WHERE q.name = $1::text;
