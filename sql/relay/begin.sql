-- relay_begin :one  queue_id $1, kind $2: how far the last relay came: sent_seq, next_offset
-- columns: sent_seq, next_offset
INSERT INTO lockstep.relay AS r (queue_id, kind) VALUES ($1::int, $2::text)
ON CONFLICT (queue_id, kind) DO UPDATE SET kind = EXCLUDED.kind
RETURNING r.sent_seq, r.next_offset;
