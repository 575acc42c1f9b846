-- reader_action_complete :one  it succeeded: task_id, token, response
-- columns: done
SELECT lockstep.action_complete($1::bigint, $2::uuid, $3::text) AS done;
