-- executor_spare :one  attempts of the incarnation before that ended by no fault of their tasks: its id, task ids,
-- tokens, attempts
-- columns: spared
SELECT lockstep.spare(
    p_executor_id => $1::uuid, p_task_ids => $2::bigint[], p_tokens => $3::uuid[],
    p_attempts => $4::int[])::text AS spared;
