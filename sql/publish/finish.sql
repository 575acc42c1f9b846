-- publish_finish :one  queue_id $1, run $2, last seq $3, its offset $4, tasks $5, phases $6, digest $7 or NULL: all is
-- published
-- columns: done
SELECT lockstep.publish_finish(
    p_queue_id => $1::int, p_run => $2::uuid, p_seq => $3::bigint, p_offset => $4::bigint, p_tasks => $5::bigint,
    p_phases => $6::bigint, p_digest => $7::text, p_why => NULL)::text AS done;
