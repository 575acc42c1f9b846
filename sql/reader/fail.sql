-- reader_fail :one  records a failed attempt; raised: the error is one that its SQL has raised
-- parameters: task_id, token, permanent, ran_us, sqlstate, error, detail, hint, context, raised
-- columns: status
-- words of status: Pending, Processing, Error, Failed, Completed, Cancelled, Paused, Terminated, PartiallyCompleted
SELECT lockstep.fail(
    p_task_id => $1::bigint, p_token => $2::uuid, p_permanent => $3::boolean, p_ran_us => $4::bigint,
    p_sqlstate => $5::text, p_error => $6::text, p_detail => $7::text, p_hint => $8::text, p_context => $9::text,
    p_raised => $10::boolean) AS status;
