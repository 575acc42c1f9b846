-- An operator cancels a task. A task that is not running is Cancelled at once and its token is void. A running task is
-- stopped by its executor, which is notified, and ends as Terminated (or Completed, if it was quicker). A cancelled
-- task counts as failed: the run's policy decides. status: of the task after the call. LS002: the task cannot be
-- cancelled in its state; 55P03: call again in a moment.
CREATE OR REPLACE FUNCTION lockstep.task_cancel(task_id bigint, reason text DEFAULT NULL, OUT status text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    t CONSTANT record := lockstep.task_held(task_cancel.task_id);
    living int[];
BEGIN
    IF lockstep.is_finished(t.status) THEN
        RAISE EXCEPTION 'task % is finished: it is %', t.task_id, t.status
            USING ERRCODE = 'LS002',
                  HINT = CASE WHEN t.status = 'Completed' THEN 'What is done is run again by a replay, mode all.'
                              WHEN t.skipped IS NOT NULL
                                  THEN format('Why it is not to be run: lockstep task explain %s', t.task_id)
                              ELSE format('To run it again: lockstep task retry %s', t.task_id) END;
    ELSIF t.cancelled_by IS NOT NULL THEN
        RAISE EXCEPTION 'task % is being stopped already, for %', t.task_id, t.cancelled_by
            USING ERRCODE = 'LS002', HINT = format('What it waits for: lockstep task explain %s', t.task_id);
    END IF;
    UPDATE lockstep.task k
    SET cancelled_by = lockstep.actor(), error = concat_ws(': ', 'cancelled by ' || lockstep.actor(), reason),
        updated_at = clock_timestamp()
    WHERE k.task_id = t.task_id;
    living := lockstep.executors_living();
    IF t.status <> 'Processing' OR t.executor_no IS NULL OR t.executor_no <> ALL (living) THEN
        PERFORM lockstep.task_stopped(ARRAY[t.task_id]);
    ELSE
        INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, task_id, executor_no, detail)
        VALUES ('task_stopping', t.queue_id, t.run_no, t.phase_id, t.task_id, t.executor_no, reason);
    END IF;
    PERFORM pg_notify('lockstep_' || t.queue_id, 'cancel');
    PERFORM lockstep.run_finish(t.run_no);
    status := (SELECT k.status FROM lockstep.task k WHERE k.task_id = t.task_id);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.task_cancel(bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.task_cancel(bigint, text) TO lockstep_operator;
