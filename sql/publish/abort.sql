-- publish_abort :one  queue_id $1, run $2, seq of its end $3, the end's offset $4, why $5: ended as aborted, or found ended
-- columns: done
SELECT lockstep.publish_finish($1::int, $2::uuid, $3::bigint, $4::bigint, NULL, NULL, NULL, $5::text)::text AS done;
