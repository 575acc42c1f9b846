-- The attempt that holds this token failed, and why. Attempts left: Error, due after the interval, owned by nobody. None
-- left, or p_permanent: Failed, and the run's policy decides, in the same transaction. p_ran_us: how long it ran.
-- Returns the new status. A stale token raises.
CREATE OR REPLACE FUNCTION lockstep.fail(p_task_id bigint, p_token uuid, p_permanent boolean, p_ran_us bigint, p_sqlstate text,
    p_error text, p_detail text, p_hint text, p_context text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t record;
    intervals float8[];
    final boolean;
    ended timestamptz := clock_timestamp();
BEGIN
    SELECT queue_id, run_no, "order", phase_id, attempt_num, max_attempts, executor_no, payload INTO t
    FROM lockstep.task WHERE task_id = p_task_id AND token = p_token;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'task %: this attempt is no longer the current one', p_task_id USING ERRCODE = 'LS001';
    END IF;
    final := p_permanent OR t.attempt_num >= t.max_attempts;
    IF final THEN -- the queue's row first, as for every change of a run
        PERFORM FROM lockstep.queue WHERE queue_id = t.queue_id FOR NO KEY UPDATE;
    ELSE
        SELECT COALESCE((SELECT array_agg(e::float8 ORDER BY n)
                         FROM json_array_elements_text(t.payload::json -> 'retry_intervals') WITH ORDINALITY AS i (e, n)),
                        retry_intervals) INTO intervals
        FROM lockstep.queue WHERE queue_id = t.queue_id;
    END IF;
    UPDATE lockstep.task
    SET status = CASE WHEN final THEN 'Failed' ELSE 'Error' END::lockstep.status, token = NULL,
        executor_no = CASE WHEN final THEN executor_no END,
        error = concat_ws(': ', p_sqlstate, p_error), started_at = ended - p_ran_us * interval '1 microsecond',
        duration = p_ran_us * interval '1 microsecond', updated_at = ended,
        scheduled_for = CASE WHEN NOT final THEN ended + interval '1 second'
            * COALESCE(intervals[LEAST(t.attempt_num, cardinality(intervals))], 1) END
    WHERE task_id = p_task_id AND token = p_token; -- still ours: the look above took no lock
    IF NOT FOUND THEN
        RAISE EXCEPTION 'task %: this attempt is no longer the current one', p_task_id USING ERRCODE = 'LS001';
    END IF;
    INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, started_at, ended_at, sqlstate, error, detail, hint, context)
    VALUES (p_task_id, t.attempt_num, CASE WHEN final THEN 'Failed' ELSE 'Error' END::lockstep.status, t.executor_no,
            ended - p_ran_us * interval '1 microsecond', ended, p_sqlstate, p_error, p_detail, p_hint, p_context);
    IF final THEN
        INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, task_id, executor_no, detail)
        VALUES ('task_failed', t.queue_id, t.run_no, t.phase_id, p_task_id, t.executor_no, concat_ws(': ', p_sqlstate, p_error));
        PERFORM lockstep.run_fail(t.run_no, t."order", format('task %s of order %s failed: %s', p_task_id, t."order", p_error));
    ELSE
        PERFORM pg_notify('lockstep_' || t.queue_id, 'work'); -- whoever is free takes it when it is due
    END IF;
    RETURN CASE WHEN final THEN 'Failed' ELSE 'Error' END;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.fail TO lockstep_task;
