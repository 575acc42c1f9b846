-- control_executor :many  the executors that have not ended and whose id begins with $1, and their hosts, at most three
-- columns: executor_id, host
SELECT e.executor_id, e.host FROM lockstep.executor e
WHERE e.ended_at IS NULL AND starts_with(e.executor_id::text, lower($1::text)) AND $1::text <> ''
ORDER BY e.executor_no LIMIT 3;
