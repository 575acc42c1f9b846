-- executor_open_runs :many  runs of the queue that have not ended: at start-up each is tried to be finished
-- columns: run_no
SELECT run_no
FROM lockstep.run
WHERE queue_id = $1::int AND ended_at IS NULL AND (end_offset IS NOT NULL OR cancelled_at IS NOT NULL) ORDER BY run_no;
