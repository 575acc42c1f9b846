-- replay_run :maybe  where run $2 of queue $1 lies on the topic, if a message of it is known; and whether on this one
-- columns: first_offset, end_offset, implicit, current
SELECT r.first_offset, r.end_offset, r.implicit, r.epoch = q.epoch AS current
FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
WHERE r.queue_id = $1::int AND r.run_id = $2::uuid AND r.first_offset IS NOT NULL;
