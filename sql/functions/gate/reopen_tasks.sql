-- Finished tasks become unfinished again and wait until an executor adopts them; the record of their attempts is kept,
-- and a new series of attempts begins (lockstep.attempts_done).
-- p_max_attempts: the number of attempts that their queue allows. The answer is the number of tasks. See reopen.
CREATE OR REPLACE FUNCTION lockstep.reopen_tasks(p_task_ids bigint[], p_max_attempts int) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    count bigint;
BEGIN
    -- A successful attempt is recorded in the task's row alone: the record is kept before the row is used for another
    -- attempt.
    INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, worker, started_at, ended_at, rows,
                                       notices)
    SELECT t.task_id, t.attempt_num, 'Completed', t.executor_no, t.worker, t.started_at,
           COALESCE(t.started_at + t.duration, t.updated_at), t.rows, t.notices
    FROM lockstep.task t
    WHERE t.task_id = ANY (p_task_ids) AND t.status = 'Completed' AND t.started_at IS NOT NULL
    ON CONFLICT DO NOTHING;
    UPDATE lockstep.task t
    SET status = 'Pending', executor_no = NULL, token = NULL, worker = NULL, lease_until = NULL, attempt_num = n.next,
        first_attempt = n.next, lost_num = 0,
        max_attempts = n.next - 1 + COALESCE((t.payload::json ->> 'max_attempts')::int, p_max_attempts),
        step = CASE WHEN t.status <> 'Completed' THEN t.step END, -- its steps that are done stay done
        response = NULL, error = NULL, rows = NULL, notices = NULL, cancelled_by = NULL, skipped = NULL,
        scheduled_for = (t.payload::json ->> 'not_before')::timestamptz, started_at = NULL, duration = NULL,
        updated_at = pg_catalog.clock_timestamp()
    -- a task that was cancelled, or declared done, may not have made the attempt that its row names
    FROM (SELECT k.task_id,
                 CASE WHEN k.status IN ('Cancelled', 'Completed') AND NOT EXISTS (
                          SELECT FROM lockstep.task_attempt a WHERE a.task_id = k.task_id AND a.attempt = k.attempt_num)
                      THEN GREATEST(k.attempt_num, 1) ELSE k.attempt_num + 1 END AS next
          FROM lockstep.task k WHERE k.task_id = ANY (p_task_ids)) AS n
    WHERE t.task_id = n.task_id;
    GET DIAGNOSTICS count = ROW_COUNT;
    RETURN count;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.reopen_tasks(bigint[], int) FROM PUBLIC;
