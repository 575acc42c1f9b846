-- relay_settle :one  queue_id, kind, uids found on the topic, the highest seq there, the offset behind: how many rows they were; then sent_seq
-- columns: found, sent_seq
WITH settled AS MATERIALIZED (SELECT lockstep.relay_settle($1::int, $2::text, $3::uuid[], $4::bigint, $5::bigint) AS found)
SELECT s.found, GREATEST(r.sent_seq, $4::bigint) AS sent_seq
FROM settled s, lockstep.relay r WHERE r.queue_id = $1::int AND r.kind = $2::text;
