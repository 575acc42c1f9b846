-- publish_outcome :maybe  queue_id $1, run $2: status, has it ended?, the error that ended it, run_no
-- columns: status, has_ended, error, run_no
-- words of status: Publishing, Published, Running, Paused, Completed, PartiallyCompleted, Failed, Cancelled
SELECT lockstep.run_state(status, published_at) AS status,
       ended_at IS NOT NULL AS has_ended, error, run_no
FROM lockstep.run WHERE queue_id = $1::int AND run_id = $2::uuid;
