-- control_executor :many  the executors that have not ended and whose id begins with $1, at most two
SELECT e.executor_id FROM lockstep.executor e
WHERE e.ended_at IS NULL AND starts_with(e.executor_id::text, lower($1::text)) AND $1::text <> '' LIMIT 2;
