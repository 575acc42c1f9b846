-- replay_waits :one  who could make room for a replay of queue $1: executors that serve it, and whether it is paused
-- columns: executors, paused
SELECT (SELECT count(*) FROM lockstep.executor e WHERE e.ended_at IS NULL AND q.name = ANY (e.queues)) AS executors,
       q.paused
FROM lockstep.queue q WHERE q.queue_id = $1::int;
