-- executor_attempts :none  notes on queue $1 the number of attempts ($2) that its executors make at a task whose
-- message and queue give none
UPDATE lockstep.queue SET default_attempts = $2::int
WHERE queue_id = $1::int AND default_attempts IS DISTINCT FROM $2::int;
