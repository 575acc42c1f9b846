-- relay_enqueue_begin :one  queue_id $1: the offset from which on a relay that begins must look for enqueued runs
-- columns: from_offset
SELECT lockstep.enqueue_begin($1::int) AS from_offset;
