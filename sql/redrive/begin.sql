-- redrive_begin :one  queue_id $1, ids $2, run $3, again $4, reason $5: notes it; or the first that was redriven before: id, run, when
-- columns: rejected_id, run, at
SELECT b.rejected_id, b.run, b.at FROM lockstep.redrive_begin($1::int, $2::bigint[], $3::uuid, $4::boolean, $5::text) AS b;
