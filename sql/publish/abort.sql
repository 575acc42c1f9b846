-- publish_abort :one  queue_id $1, run $2, seq of its end $3, the end's offset $4, why $5: ended as aborted, or found
-- ended
-- columns: done
SELECT lockstep.publish_finish(
    p_queue_id => $1::int, p_run => $2::uuid, p_seq => $3::bigint, p_offset => $4::bigint, p_tasks => NULL,
    p_phases => NULL, p_digest => NULL, p_why => $5::text)::text AS done;
