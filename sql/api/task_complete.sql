-- An operator declares a task done: its work was done by other means. A running task is refused (cancel it first),
-- unless it is external: then its worker's token is void. Tasks that its failure has stopped stay so: run_retry reopens
-- them. The attempts that the task has made stay as they ended. The task's row is that of an attempt only if a worker
-- was making one: else it has no times.
CREATE OR REPLACE FUNCTION lockstep.task_complete(task_id bigint, reason text DEFAULT NULL, OUT status text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    t CONSTANT record := lockstep.task_held(task_complete.task_id);
BEGIN
    IF t.status IN ('Completed', 'PartiallyCompleted', 'Paused') THEN
        RAISE EXCEPTION 'task % cannot be declared done: it is %', t.task_id, t.status
            USING ERRCODE = 'LS002',
                  HINT = CASE WHEN t.status = 'Completed' THEN 'What is done is run again by a replay, mode all.'
                              ELSE format('To run it again: lockstep task retry %s', t.task_id) END;
    ELSIF t.status = 'Processing' AND t.type <> 'external' THEN
        RAISE EXCEPTION 'task % is running', t.task_id
            USING ERRCODE = 'LS002', HINT = format('Stop it first: lockstep task cancel %s', t.task_id);
    END IF;
    UPDATE lockstep.task k
    SET status = 'Completed', token = NULL, executor_no = NULL, error = NULL, cancelled_by = NULL, scheduled_for = NULL,
        lease_until = NULL,
        started_at = CASE WHEN k.status = 'Processing' THEN k.started_at END,
        duration = CASE WHEN k.status = 'Processing' THEN clock_timestamp() - k.started_at END,
        response = concat_ws(': ', 'declared done by ' || lockstep.actor(), reason), updated_at = clock_timestamp()
    WHERE k.task_id = t.task_id;
    INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, task_id, detail)
    VALUES ('task_completed', t.queue_id, t.run_no, t.phase_id, t.task_id,
            concat_ws(': ', 'it was ' || t.status, reason));
    PERFORM pg_notify('lockstep_' || t.queue_id, 'cancel'); -- the executor that has it releases it
    PERFORM lockstep.run_finish(t.run_no);
    status := 'Completed';
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.task_complete(bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.task_complete(bigint, text) TO lockstep_operator;
