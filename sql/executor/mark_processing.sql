-- executor_mark_processing :many  shows that these attempts are running: task ids, tokens, ages in microseconds, pids
-- of their sessions
-- columns: task_id
SELECT lockstep.mark_processing(
    p_task_ids => $1::bigint[], p_tokens => $2::uuid[], p_ages_us => $3::bigint[], p_pids => $4::int[]) AS task_id;
