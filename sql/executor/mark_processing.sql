-- executor_mark_processing :many  shows that these attempts are running: task ids, tokens, ages in microseconds, pids of their sessions
-- columns: task_id
UPDATE lockstep.task t SET status = 'Processing', started_at = clock_timestamp() - m.age_us * interval '1 microsecond', updated_at = clock_timestamp(),
    backend_pid = m.pid
FROM ROWS FROM (unnest($1::bigint[]), unnest($2::uuid[]), unnest($3::bigint[]), unnest($4::int[])) AS m (task_id, token, age_us, pid)
WHERE t.task_id = m.task_id AND t.token = m.token AND t.status IN ('Pending', 'Error')
  -- Not waited for: an attempt that is being completed right now needs no mark.
  AND t.task_id IN (SELECT l.task_id FROM lockstep.task l WHERE l.task_id = ANY ($1::bigint[]) FOR UPDATE SKIP LOCKED)
RETURNING t.task_id;
