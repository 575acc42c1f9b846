-- publish_note :none  queue_id $1, run $2: the newest record that is committed: seq $3, offset $4
-- Claims write the same row under the queue's lock; this touches only the producer's own columns, so neither undoes the other.
UPDATE lockstep.run SET publish_acked_seq = $3::bigint, publish_acked_offset = $4::bigint
WHERE queue_id = $1::int AND run_id = $2::uuid;
