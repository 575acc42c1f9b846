-- relay_sent :one  queue_id, kind: up to seq $3 all is on the topic, whose next unknown offset is $4; how many rows
-- columns: sent
SELECT lockstep.relay_sent(
    p_queue_id => $1::int, p_kind => $2::text, p_seq => $3::bigint, p_next_offset => $4::bigint) AS sent;
