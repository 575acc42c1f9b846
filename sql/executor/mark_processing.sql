-- executor_mark_processing :many  shows that these attempts are running: task ids, tokens, ages in microseconds, pids of their sessions
-- columns: task_id
SELECT lockstep.mark_processing($1::bigint[], $2::uuid[], $3::bigint[], $4::int[]) AS task_id;
