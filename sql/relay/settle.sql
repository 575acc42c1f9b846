-- relay_settle :one  queue_id, kind, uids found on the topic, the highest seq there, the offset behind: how many rows
-- they were; then sent_seq
-- columns: found, sent_seq
WITH settled AS MATERIALIZED (SELECT lockstep.relay_settle(
    p_queue_id => $1::int, p_kind => $2::text, p_uids => $3::uuid[], p_seq => $4::bigint,
    p_next_offset => $5::bigint) AS found)
SELECT s.found, GREATEST(r.sent_seq, $4::bigint) AS sent_seq
FROM settled s, lockstep.relay r WHERE r.queue_id = $1::int AND r.kind = $2::text;
