-- relay_waiting :one  is there anything to relay for queue $1? As relay_kinds, not in a copy of the database
-- columns: waiting
SELECT (EXISTS (SELECT FROM lockstep.outbox o WHERE o.queue_id = $1::int)
        OR EXISTS (SELECT FROM lockstep.enqueued e WHERE e.queue_id = $1::int))
       AND EXISTS (SELECT FROM lockstep.queue q
                   WHERE q.queue_id = $1::int AND NOT lockstep.queue_is_copy(q)) AS waiting;
