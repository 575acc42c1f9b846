-- publish_outcome :maybe  queue_id $1, run $2: status, has it ended?, what ended it badly
SELECT status, ended_at IS NOT NULL, error FROM lockstep.run WHERE queue_id = $1::int AND run_id = $2::uuid;
