-- console_readers :maybe  the readers of queue $1 over time since $2 (NULL: for an hour): how many there should be and
-- how many worked
-- columns: document
SELECT lockstep.queue_history(q.name, $2::timestamptz) AS document FROM lockstep.queue q WHERE q.name = $1::text;
