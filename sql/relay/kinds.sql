-- relay_kinds :many  what is to be relayed for queue $1: kind, topic, the queue's name
SELECT k.kind, q.topic || '.' || k.kind AS topic, q.name
FROM (SELECT DISTINCT o.kind FROM lockstep.outbox o WHERE o.queue_id = $1::int) k
JOIN lockstep.queue q ON q.queue_id = $1::int
ORDER BY k.kind;
