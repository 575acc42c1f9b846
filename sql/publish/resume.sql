-- publish_resume :one  queue_id $1, run $2, from $3, source $4, format $5, digest $6, bytes $7, seq on the topic $8, its offset $9, digest of the records $10: continues
-- columns: done
SELECT lockstep.publish_resume($1::int, $2::uuid, $3::text, $4::text, $5::text, $6::text, $7::bigint, $8::bigint, $9::bigint, $10::text)::text AS done;
