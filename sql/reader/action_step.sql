-- reader_action_step :one  a step of it succeeded, and others follow: task_id, token, name of the next step, response; continue?
-- columns: go_on
SELECT lockstep.action_step($1::bigint, $2::uuid, $3::text, $4::text) AS go_on;
