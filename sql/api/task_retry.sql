-- An operator has one finished task tried again that is not done, one that waits for its time (the next attempt, or
-- not_before) tried now, or one that is held (Paused) released. A run that had ended is Running again. See reopen.
CREATE OR REPLACE FUNCTION lockstep.task_retry(task_id bigint, reason text DEFAULT NULL, OUT status text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    t CONSTANT record := lockstep.task_held(task_retry.task_id);
    done record;
BEGIN
    IF t.cancelled_by IS NULL
       AND (t.status = 'Error'
            OR (t.status = 'Pending' AND t.executor_no IS NULL AND t.scheduled_for > clock_timestamp())) THEN
        UPDATE lockstep.task k SET scheduled_for = clock_timestamp(), updated_at = clock_timestamp()
        WHERE k.task_id = t.task_id;
    ELSIF t.status = 'Paused' AND t.cancelled_by IS NULL THEN
        -- an attempt that was recorded before is not made again
        UPDATE lockstep.task k
        SET status = 'Pending', token = NULL, executor_no = NULL, scheduled_for = NULL, updated_at = clock_timestamp(),
            attempt_num = k.attempt_num
                + (SELECT count(*)::int FROM lockstep.task_attempt a
                   WHERE a.task_id = k.task_id AND a.attempt = k.attempt_num)
        WHERE k.task_id = t.task_id;
    ELSIF lockstep.is_failed(t.status) OR t.status = 'Cancelled' THEN
        SELECT * INTO STRICT done
        FROM lockstep.reopen(t.phase_id, ARRAY[t.task_id], concat_ws(': ', 'retried by ' || lockstep.actor(), reason));
        IF done.verdict = 'refused' THEN
            RAISE EXCEPTION 'task %: it cannot be retried while order % of its run is at work', t.task_id, done.blocking
                USING ERRCODE = 'LS002', HINT = 'Wait for it, or cancel its tasks.';
        ELSIF done.reopened = 0 THEN
            RAISE EXCEPTION 'task % is not to be run: %', t.task_id,
                            CASE WHEN t.key IS NOT NULL THEN format(
                                     'its key "%s" is that of task %s', t.key,
                                     (SELECT i.task_id
                                      FROM lockstep.idempotency_key i WHERE i.queue_id = t.queue_id AND i.key = t.key))
                                 ELSE 'its condition is failure, and nothing before it failed' END
                USING ERRCODE = 'LS002';
        END IF;
    ELSE
        RAISE EXCEPTION 'task % has not failed: it is %', t.task_id, t.status
            USING ERRCODE = 'LS002',
                  HINT = CASE WHEN t.status = 'Completed' THEN 'What is done is run again by a replay, mode all.'
                              ELSE format('What it waits for: lockstep task explain %s', t.task_id) END;
    END IF;
    INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, task_id, detail)
    VALUES ('task_retried', t.queue_id, t.run_no, t.phase_id, t.task_id,
            concat_ws(': ', 'it was ' || t.status, reason));
    PERFORM pg_notify('lockstep_' || t.queue_id, 'work');
    PERFORM lockstep.worker_tell(t.queue_id);
    status := (SELECT k.status FROM lockstep.task k WHERE k.task_id = t.task_id);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.task_retry(bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.task_retry(bigint, text) TO lockstep_operator;
