-- reader_action_fail :one  an attempt at a command or a request failed
-- parameters: task_id, token, permanent, ran_us, sqlstate, error, detail, hint, context, response, retry_after_s
-- columns: status
-- words of status: Pending, Processing, Error, Failed, Completed, Cancelled, Paused, Terminated, PartiallyCompleted
SELECT lockstep.action_fail($1::bigint, $2::uuid, $3::boolean, $4::bigint, $5::text, $6::text, $7::text, $8::text, $9::text, $10::text, $11::int) AS status;
