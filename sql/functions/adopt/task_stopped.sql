-- These tasks, which an operator has cancelled by themselves or with their run, have no attempt under way any more:
-- they become Terminated if one ran, Cancelled if not. A task that was cancelled by itself counts as failed: the run's
-- policy decides, in this transaction, so that a gate that finds the phase finished finds this, too. Called under the
-- lock of the queue's row.
CREATE OR REPLACE FUNCTION lockstep.task_stopped(p_task_ids bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    task_row record;
    why text;
    ended timestamptz;
    count bigint := 0;
BEGIN
    FOR task_row IN
        SELECT k.task_id, k.run_no, k."order", k.phase_id, k.queue_id, k.status, k.attempt_num, k.executor_no,
               k.worker, k.started_at, k.cancelled_by, k.error, r.cancelled_by AS run_by, r.error AS run_error
        FROM lockstep.task k JOIN lockstep.run r USING (run_no)
        WHERE k.task_id = ANY (p_task_ids) AND NOT lockstep.is_finished(k.status)
        ORDER BY k.task_id FOR NO KEY UPDATE OF k
    LOOP
        ended := pg_catalog.clock_timestamp();
        why := CASE WHEN task_row.run_by IS NOT NULL THEN 'the run was ' || task_row.run_error
                    WHEN task_row.error LIKE 'cancelled by %' THEN task_row.error
                    ELSE 'cancelled by ' || task_row.cancelled_by END;
        UPDATE lockstep.task
        SET status = CASE task_row.status WHEN 'Processing' THEN 'Terminated' ELSE 'Cancelled' END::lockstep.status,
            token = NULL, executor_no = CASE task_row.status WHEN 'Processing' THEN task_row.executor_no END,
            error = why, scheduled_for = NULL, lease_until = NULL,
            cancelled_by = COALESCE(task_row.cancelled_by, task_row.run_by), updated_at = ended,
            duration = CASE task_row.status WHEN 'Processing' THEN ended - task_row.started_at END
        WHERE task_id = task_row.task_id AND NOT lockstep.is_finished(status);
        CONTINUE WHEN NOT FOUND; -- the loop has read ahead: the end of one task may have cancelled the next one
        IF task_row.status = 'Processing' THEN
            INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, worker, started_at, ended_at,
                                               error)
            VALUES (task_row.task_id, task_row.attempt_num, 'Terminated', task_row.executor_no, task_row.worker,
                    task_row.started_at, ended, why)
            ON CONFLICT (task_id, attempt) DO UPDATE SET status = 'Terminated', error = EXCLUDED.error;
        END IF;
        INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, task_id, executor_no, actor, detail)
        VALUES (CASE task_row.status WHEN 'Processing' THEN 'task_terminated' ELSE 'task_cancelled' END,
                task_row.queue_id, task_row.run_no, task_row.phase_id, task_row.task_id, task_row.executor_no,
                COALESCE(task_row.cancelled_by, task_row.run_by), why);
        IF task_row.run_by IS NULL THEN
            PERFORM lockstep.run_fail(task_row.run_no, task_row."order",
                                      pg_catalog.format(
                                          'task %s of order %s was %s', task_row.task_id, task_row."order", why));
        END IF;
        count := count + 1;
    END LOOP;
    RETURN count;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.task_stopped(bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.task_stopped(bigint[]) TO lockstep_executor;
