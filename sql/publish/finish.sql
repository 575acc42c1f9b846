-- publish_finish :one  queue_id $1, run $2, last seq $3, its offset $4, tasks $5, phases $6, digest $7 or NULL: all is published
-- columns: done
SELECT lockstep.publish_finish($1::int, $2::uuid, $3::bigint, $4::bigint, $5::bigint, $6::bigint, $7::text, NULL)::text AS done;
