-- These tasks, which an operator has cancelled by themselves or with their run, have no attempt under way any more: they become
-- Terminated if one ran, Cancelled if not. A task that was cancelled by itself counts as failed: the run's policy decides, in this
-- transaction, so that a gate that finds the phase finished finds this, too. Called under the lock of the queue's row.
CREATE OR REPLACE FUNCTION lockstep.task_stopped(p_task_ids bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    t record;
    why text;
    ended timestamptz;
    count bigint := 0;
BEGIN
    FOR t IN SELECT k.task_id, k.run_no, k."order", k.phase_id, k.queue_id, k.status, k.attempt_num, k.executor_no, k.started_at,
                    k.cancelled_by, k.error, r.cancelled_by AS run_by, r.error AS run_error
             FROM lockstep.task k JOIN lockstep.run r USING (run_no)
             WHERE k.task_id = ANY (p_task_ids) AND NOT lockstep.is_finished(k.status)
             ORDER BY k.task_id FOR NO KEY UPDATE OF k LOOP
        ended := pg_catalog.clock_timestamp();
        why := CASE WHEN t.run_by IS NOT NULL THEN 'the run was ' || t.run_error
                    WHEN t.error LIKE 'cancelled by %' THEN t.error ELSE 'cancelled by ' || t.cancelled_by END;
        UPDATE lockstep.task
        SET status = CASE t.status WHEN 'Processing' THEN 'Terminated' ELSE 'Cancelled' END::lockstep.status, token = NULL,
            executor_no = CASE t.status WHEN 'Processing' THEN t.executor_no END, error = why, scheduled_for = NULL,
            lease_until = NULL,
            cancelled_by = COALESCE(t.cancelled_by, t.run_by), updated_at = ended,
            duration = CASE t.status WHEN 'Processing' THEN ended - t.started_at END
        WHERE task_id = t.task_id AND NOT lockstep.is_finished(status);
        CONTINUE WHEN NOT FOUND; -- the loop has read ahead: the end of one task may have cancelled the next one
        IF t.status = 'Processing' THEN
            INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, started_at, ended_at, error)
            VALUES (t.task_id, t.attempt_num, 'Terminated', t.executor_no, t.started_at, ended, why)
            ON CONFLICT (task_id, attempt) DO UPDATE SET status = 'Terminated', error = EXCLUDED.error;
        END IF;
        INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, task_id, executor_no, actor, detail)
        VALUES (CASE t.status WHEN 'Processing' THEN 'task_terminated' ELSE 'task_cancelled' END, t.queue_id, t.run_no, t.phase_id,
                t.task_id, t.executor_no, COALESCE(t.cancelled_by, t.run_by), why);
        IF t.run_by IS NULL THEN
            PERFORM lockstep.run_fail(t.run_no, t."order", pg_catalog.format('task %s of order %s was %s', t.task_id, t."order", why));
        END IF;
        count := count + 1;
    END LOOP;
    RETURN count;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.task_stopped(bigint[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.task_stopped(bigint[]) TO lockstep_executor;
