-- executor_attempts :none  notes on queue $1 how often its executors try a task of which neither message nor queue
-- tells: $2 times
UPDATE lockstep.queue SET default_attempts = $2::int
WHERE queue_id = $1::int AND default_attempts IS DISTINCT FROM $2::int;
