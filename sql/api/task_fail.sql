-- An operator declares a task finally failed, with any number of attempts left; the run's policy decides. A running
-- task is refused (cancel it first), unless it is external: then its worker's token is void.
CREATE OR REPLACE FUNCTION lockstep.task_fail(task_id bigint, reason text DEFAULT NULL, OUT status text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    t CONSTANT record := lockstep.task_held(task_fail.task_id);
    why CONSTANT text := concat_ws(': ', 'declared failed by ' || lockstep.actor(), reason);
BEGIN
    IF lockstep.is_finished(t.status) OR t.status = 'Paused' THEN
        RAISE EXCEPTION 'task % cannot be declared failed: it is %', t.task_id, t.status
            USING ERRCODE = 'LS002',
                  HINT = CASE WHEN t.status = 'Completed' THEN 'What is done is run again by a replay, mode all.'
                              WHEN t.skipped IS NOT NULL
                                  THEN format('Why it is not to be run: lockstep task explain %s', t.task_id)
                              ELSE format('To run it again: lockstep task retry %s', t.task_id) END;
    ELSIF t.status = 'Processing' AND t.type <> 'external' THEN
        RAISE EXCEPTION 'task % is running', t.task_id
            USING ERRCODE = 'LS002', HINT = format('Stop it first: lockstep task cancel %s', t.task_id);
    END IF;
    UPDATE lockstep.task k
    SET status = 'Failed', token = NULL, executor_no = NULL, error = why, scheduled_for = NULL,
        lease_until = NULL,
        duration = CASE WHEN k.status = 'Processing' THEN clock_timestamp() - k.started_at ELSE k.duration END,
        updated_at = clock_timestamp()
    WHERE k.task_id = t.task_id;
    -- one that has not begun has no start; the row may have that of the attempt before
    INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, worker, started_at, ended_at, error)
    VALUES (t.task_id, t.attempt_num, 'Failed', t.executor_no, t.worker,
            CASE WHEN t.status = 'Processing' THEN t.started_at END, clock_timestamp(), why)
    ON CONFLICT (task_id, attempt) DO UPDATE SET
        status = 'Failed', error = concat_ws('; ', EXCLUDED.error, task_attempt.error);
    INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, task_id, detail)
    VALUES ('task_failed', t.queue_id, t.run_no, t.phase_id, t.task_id, why);
    PERFORM lockstep.run_fail(t.run_no, t."order", format('task %s of order %s was %s', t.task_id, t."order", why));
    PERFORM pg_notify('lockstep_' || t.queue_id, 'cancel');
    PERFORM lockstep.run_finish(t.run_no);
    status := 'Failed';
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.task_fail(bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.task_fail(bigint, text) TO lockstep_operator;
