-- publish_note :one  queue_id $1, run $2: the newest record that is committed: seq $3, offset $4, digest of the records
-- up to it $5
-- columns: done
SELECT lockstep.publish_note(
    p_queue_id => $1::int, p_run => $2::uuid, p_seq => $3::bigint, p_offset => $4::bigint,
    p_chain => $5::text)::text AS done;
