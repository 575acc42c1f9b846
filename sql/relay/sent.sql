-- relay_sent :one  queue_id, kind: up to seq $3 all is on the topic, whose next unknown offset is $4; how many rows
-- columns: sent
SELECT lockstep.relay_sent($1::int, $2::text, $3::bigint, $4::bigint) AS sent;
