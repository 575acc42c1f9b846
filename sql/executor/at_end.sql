-- executor_at_end :maybe  only control records lie between the cursor and the end of the topic: queue_id, cursor, end
-- Only while no executor has claimed meanwhile. Lag tools then show zero, and retention may delete those records.
-- columns: next_offset
UPDATE lockstep.queue SET next_offset = $3::bigint
WHERE queue_id = $1::int AND next_offset = $2::bigint AND halted_reason IS NULL
RETURNING next_offset;
