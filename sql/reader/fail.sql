-- reader_fail :one  records a failed attempt; raised: the error is one that its SQL has raised
-- parameters: task_id, token, permanent, ran_us, sqlstate, error, detail, hint, context, raised
-- columns: status
-- words of status: Pending, Processing, Error, Failed, Completed, Cancelled, Paused, Terminated, PartiallyCompleted
SELECT lockstep.fail($1::bigint, $2::uuid, $3::boolean, $4::bigint, $5::text, $6::text, $7::text, $8::text, $9::text, $10::boolean) AS status;
