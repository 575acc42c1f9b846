-- console_queue_pause :one  pauses queue $1, because of $2
-- columns: document
SELECT json_build_object('queue', $1::text, 'changed', h.n) AS document FROM lockstep.queue_pause($1::text, $2::text) AS h (n);
