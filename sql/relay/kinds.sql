-- relay_kinds :many  what is to be relayed for queue $1: kind, topic, the queue's name, partition; enqueue: work, for
-- the queue's own topic. Nothing in a copy of the database: the topic is that of another one
-- columns: kind, topic, name, partition
WITH RECURSIVE waiting AS ( -- a look at the index for each kind: DISTINCT would read all rows
    (SELECT o.kind FROM lockstep.outbox o WHERE o.queue_id = $1::int ORDER BY o.kind LIMIT 1)
    UNION ALL
    SELECT (SELECT o.kind FROM lockstep.outbox o WHERE o.queue_id = $1::int AND o.kind > w.kind ORDER BY o.kind LIMIT 1)
    FROM waiting w WHERE w.kind IS NOT NULL)
SELECT k.kind, CASE k.kind WHEN 'enqueue' THEN q.topic ELSE q.topic || '.' || k.kind END AS topic, q.name,
       CASE k.kind WHEN 'enqueue' THEN q.partition ELSE 0 END AS partition
FROM (SELECT w.kind FROM waiting w WHERE w.kind IS NOT NULL
      UNION ALL
      SELECT 'enqueue' WHERE EXISTS (SELECT FROM lockstep.enqueued e WHERE e.queue_id = $1::int)) k
JOIN lockstep.queue q ON q.queue_id = $1::int AND NOT lockstep.queue_is_copy(q)
ORDER BY k.kind;
