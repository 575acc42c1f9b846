-- The attempt that holds this token failed. With attempts left the task is Error, due after the interval, and has no
-- owner. Without attempts left, with p_permanent, or after an error that is not to be tried again (retry_on of the
-- message or the queue) it is Failed, and the run's policy decides in the same transaction. p_ran_us: how long the
-- attempt ran.
-- A fault of the server counts neither as a failed attempt nor as a lost one: the task is put off, longer each time,
-- without end.
-- p_raised: the task's own SQL has raised the error (RAISE): its SQLSTATE says nothing of the server.
-- The attempt of a doubted task was shown durably, so its end is durable, too (reader/attempt.c, begin_shown). The
-- answer is the new status. A stale token raises an error.
CREATE OR REPLACE FUNCTION lockstep.fail(
    p_task_id bigint, p_token uuid, p_permanent boolean, p_ran_us bigint, p_sqlstate text, p_error text, p_detail text,
    p_hint text, p_context text, p_raised boolean DEFAULT false)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    task_row record;
    queue_row record;
    wish json;
    lost CONSTANT boolean := NOT p_permanent AND NOT p_raised AND lockstep.server_fault(p_sqlstate);
    final boolean;
    seconds float8;
    ended timestamptz := clock_timestamp();
    why CONSTANT text := concat_ws(': ', p_sqlstate, p_error);
BEGIN
    SELECT queue_id, run_no, "order", phase_id, attempt_num, max_attempts, lost_num, executor_no, payload, doubted
    INTO task_row
    FROM lockstep.task WHERE task_id = p_task_id AND token = p_token;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'task %: this attempt is no longer the current one', p_task_id USING ERRCODE = 'LS001';
    END IF;
    IF task_row.doubted THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    wish := task_row.payload::json;
    SELECT b.max_lost, b.retry_intervals,
           COALESCE((SELECT array_agg(e) FROM json_array_elements_text(wish -> 'retry_on') AS i (e)),
                    b.retry_on) AS retry_on
    INTO STRICT queue_row FROM lockstep.queue b WHERE b.queue_id = task_row.queue_id;
    final := CASE WHEN p_permanent THEN true
                  WHEN lost THEN false
                  ELSE task_row.attempt_num >= task_row.max_attempts
                       OR NOT lockstep.retries(p_sqlstate, queue_row.retry_on) END;
    IF final THEN -- the queue's row first, as for every change of a run
        PERFORM FROM lockstep.queue WHERE queue_id = task_row.queue_id FOR NO KEY UPDATE;
    ELSIF lost THEN
        seconds := lockstep.put_off(p_task_id, task_row.lost_num);
    ELSE
        seconds := lockstep.retry_seconds(p_task_id, wish, queue_row.retry_intervals);
    END IF;
    UPDATE lockstep.task
    SET status = CASE WHEN final THEN 'Failed' ELSE 'Error' END::lockstep.status, token = NULL,
        executor_no = CASE WHEN final THEN executor_no END,
        max_attempts = max_attempts + CASE WHEN lost THEN 1 ELSE 0 END, -- it counts failed ones only
        error = why,
        started_at = ended - p_ran_us * interval '1 microsecond',
        -- not back, it may have been marked meanwhile
        duration = p_ran_us * interval '1 microsecond', updated_at = clock_timestamp(),
        scheduled_for = CASE WHEN NOT final THEN ended + interval '1 second' * seconds END
    WHERE task_id = p_task_id AND token = p_token; -- still ours: the look above took no lock
    IF NOT FOUND THEN
        RAISE EXCEPTION 'task %: this attempt is no longer the current one', p_task_id USING ERRCODE = 'LS001';
    END IF;
    INSERT INTO lockstep.task_attempt (task_id, attempt, status, executor_no, started_at, ended_at, sqlstate, error,
                                       detail, hint, context)
    VALUES (p_task_id, task_row.attempt_num,
            CASE WHEN final THEN 'Failed' WHEN lost THEN 'Pending' ELSE 'Error' END::lockstep.status,
            task_row.executor_no, ended - p_ran_us * interval '1 microsecond', ended, p_sqlstate, p_error, p_detail,
            p_hint, p_context);
    IF final THEN
        INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, task_id, executor_no, detail)
        VALUES ('task_failed', task_row.queue_id, task_row.run_no, task_row.phase_id, p_task_id, task_row.executor_no,
                why);
        PERFORM lockstep.run_fail(task_row.run_no, task_row."order",
                                  format('task %s of order %s failed: %s', p_task_id, task_row."order", p_error));
    ELSE
        -- an executor with a free reader takes it when it is due
        PERFORM pg_notify('lockstep_' || task_row.queue_id, 'work');
    END IF;
    RETURN CASE WHEN final THEN 'Failed' ELSE 'Error' END;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.fail TO lockstep_task;
