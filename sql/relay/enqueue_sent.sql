-- relay_enqueue_sent :one  queue_id $1: runs $2 are on the topic, and nothing unknown of ours before offset $3; how
-- many were waiting
-- columns: sent
SELECT lockstep.enqueue_sent($1::int, $2::uuid[], $3::bigint) AS sent;
