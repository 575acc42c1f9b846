-- queue_in_use :one  slots of queue $1 that an executor holds now
-- columns: in_use
SELECT COALESCE(sum(r.in_use), 0) AS in_use FROM lockstep.reader_status r WHERE r.queue = $1::text;
