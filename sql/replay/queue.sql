-- replay_queue :maybe  the queue of replay $1
-- columns: queue_id, name, topic, partition
SELECT q.queue_id, q.name, q.topic, q.partition
FROM lockstep.replay r JOIN lockstep.queue q USING (queue_id)
WHERE r.replay_id = $1::int;
