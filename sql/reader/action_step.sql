-- reader_action_step :one  a step of it succeeded, and others follow: task_id, token, name of the next step, response;
-- continue?
-- columns: go_on
SELECT lockstep.action_step(
    p_task_id => $1::bigint, p_token => $2::uuid, p_next => $3::text, p_response => $4::text) AS go_on;
