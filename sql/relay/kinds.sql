-- relay_kinds :many  what is to be relayed for queue $1: kind, topic, the queue's name, partition; enqueue: work, for the queue's own topic
-- columns: kind, topic, name, partition
SELECT k.kind, CASE k.kind WHEN 'enqueue' THEN q.topic ELSE q.topic || '.' || k.kind END AS topic, q.name,
       CASE k.kind WHEN 'enqueue' THEN q.partition ELSE 0 END AS partition
FROM (SELECT DISTINCT o.kind FROM lockstep.outbox o WHERE o.queue_id = $1::int
      UNION ALL
      SELECT 'enqueue' WHERE EXISTS (SELECT FROM lockstep.enqueued e WHERE e.queue_id = $1::int)) k
JOIN lockstep.queue q ON q.queue_id = $1::int
ORDER BY k.kind;
