-- redrive_settle :one  queue_id $1, run $2: settles the outcome of a redrive
-- columns: done
SELECT lockstep.redrive_settle($1::int, $2::uuid)::text AS done;
