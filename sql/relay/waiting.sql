-- relay_waiting :one  is there anything to relay for queue $1?
-- columns: waiting
SELECT EXISTS (SELECT FROM lockstep.outbox o WHERE o.queue_id = $1::int)
       OR EXISTS (SELECT FROM lockstep.enqueued e WHERE e.queue_id = $1::int) AS waiting;
