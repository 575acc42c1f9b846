-- relay_enqueue_begin :one  queue_id $1: the offset from which on a relay that begins must look for enqueued runs
-- columns: from_offset
INSERT INTO lockstep.relay AS r (queue_id, kind) VALUES ($1::int, 'enqueue')
ON CONFLICT (queue_id, kind) DO UPDATE SET kind = EXCLUDED.kind
RETURNING GREATEST(r.next_offset, (SELECT min(e.floor_offset) FROM lockstep.enqueued e WHERE e.queue_id = $1::int)) AS from_offset;
