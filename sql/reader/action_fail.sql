-- reader_action_fail :one  an attempt at a command or a request failed
-- parameters: task_id, token, permanent, ran_us, sqlstate, error, detail, hint, context, response, retry_after_s
-- columns: status
-- words of status: Pending, Processing, Error, Failed, Completed, Cancelled, Paused, Terminated, PartiallyCompleted
SELECT lockstep.action_fail(
    p_task_id => $1::bigint, p_token => $2::uuid, p_permanent => $3::boolean, p_ran_us => $4::bigint,
    p_sqlstate => $5::text, p_error => $6::text, p_detail => $7::text, p_hint => $8::text, p_context => $9::text,
    p_response => $10::text, p_retry_after_s => $11::int) AS status;
