-- publish_note :one  queue_id $1, run $2: the newest record that is committed: seq $3, offset $4, digest of the records up to it $5
-- columns: done
SELECT lockstep.publish_note($1::int, $2::uuid, $3::bigint, $4::bigint, $5::text)::text AS done;
