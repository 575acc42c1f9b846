-- queue_in_use :one  slots of queue $1 that an executor holds now
SELECT COALESCE(sum(r.in_use), 0) FROM lockstep.reader_status r WHERE r.queue = $1::text;
