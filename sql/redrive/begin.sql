-- redrive_begin :one  queue_id $1, ids $2, run $3, again $4, reason $5: notes it; or the first that was redriven
-- before: id, run, when
-- columns: rejected_id, run, at
SELECT b.rejected_id, b.run, b.at FROM lockstep.redrive_begin(
    p_queue_id => $1::int, p_ids => $2::bigint[], p_run => $3::uuid, p_again => $4::boolean, p_reason => $5::text,
    p_settle => true) AS b;
