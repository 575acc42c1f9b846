-- publish_note :none  queue_id $1, run $2: the newest record that is committed: seq $3, offset $4, digest of the records up to it $5
-- Claims write the same row under the queue's lock; this touches only the producer's own columns, so neither undoes the other.
UPDATE lockstep.run
SET publish_acked_seq = $3::bigint, publish_acked_offset = $4::bigint, publish_chain = $5::text
WHERE queue_id = $1::int AND run_id = $2::uuid;
