-- publish_exists :maybe  queue_id $1, run $2: the status of a run that is there already
-- columns: status
SELECT status FROM lockstep.run WHERE queue_id = $1::int AND run_id = $2::uuid;
