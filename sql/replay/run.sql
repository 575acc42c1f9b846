-- replay_run :maybe  where run $2 of queue $1 lies on the topic, if a message of it is known
-- columns: first_offset, end_offset, implicit
SELECT r.first_offset, r.end_offset, r.implicit
FROM lockstep.run r
WHERE r.queue_id = $1::int AND r.run_id = $2::uuid AND r.first_offset IS NOT NULL;
