-- publish_cancel :one  queue_id $1, run $2, why $3: nothing of the run came onto the topic
-- columns: done
SELECT lockstep.publish_cancel($1::int, $2::uuid, $3::text)::text AS done;
