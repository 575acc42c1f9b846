-- executor_leave :one  returns tasks that this executor is not able to do: queue, executor, task ids, tokens, needs,
-- lacking
-- columns: left
SELECT lockstep.action_leave(
    p_queue_id => $1::int, p_executor_no => $2::int, p_task_ids => $3::bigint[], p_tokens => $4::uuid[],
    p_needs => $5::text[], p_lacks => $6::boolean[]) AS left;
