-- Reopen: finished tasks of one phase become unfinished again, and executors adopt them. For replay, `run retry` and
-- `task retry`. The rows of the phase and of every later phase of the run are locked in ascending order. Then, in a
-- statement of its own, the reopening is refused if a later open phase has unfinished work that names an owner, dead or
-- alive: so an open phase with owned work is never closed, and an executor starts only tasks of a phase that it saw
-- open. Then later phases that are not done are closed. Phases that are done stay done: the gate of a phase checks all
-- earlier phases that are not.
--   p_task_ids: those of them that are finished; NULL: all that failed, or were cancelled because of a failure. '{}':
--   none, only the run continues, and its stop stays.
-- A run that had ended is Running again; its end stays known. If the runs of its queue are serial it returns to its
-- place in log order: the phase waits for the earlier runs that have not ended (later runs that have begun are not held
-- up). Until one of its phases opens, an earlier phase that is reopened waits likewise.
-- Attempts: each reopened task has as many more as its message or its queue says.
-- Not reopened: a task whose key another task has now (key_take); a task whose condition is failure if no earlier task
-- failed.
--
-- verdict   reopened   reopened says how many
--           refused    a later phase is at work: blocking is its order
CREATE OR REPLACE FUNCTION lockstep.reopen(p_phase_id bigint, p_task_ids bigint[], p_why text,
    OUT verdict text, OUT reopened bigint, OUT blocking bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    own record;
    run_row record;
    before bigint;      -- the run that it has to wait for
    chosen bigint[];
    free bigint[];      -- external tasks that no worker is taking
    stays_open boolean; -- the phase itself
    stop bigint;        -- of the run, if it stays
    keyless bigint[];
BEGIN
    reopened := 0;
    SELECT p.run_no, p.queue_id, p."order", p.conditional INTO STRICT own
    FROM lockstep.phase p WHERE p.phase_id = p_phase_id;
    -- The queue, the run, its phases, its tasks, in the order of all functions that change a run. All reopenings of a
    -- queue are one after the other.
    PERFORM FROM lockstep.queue q WHERE q.queue_id = own.queue_id FOR NO KEY UPDATE;
    PERFORM FROM lockstep.run WHERE run.run_no = own.run_no FOR NO KEY UPDATE;
    PERFORM FROM lockstep.phase p
    WHERE p.run_no = own.run_no AND p."order" >= own."order" ORDER BY p."order" FOR UPDATE;
    IF EXISTS (SELECT FROM lockstep.run WHERE run.run_no = own.run_no AND run.swept) THEN
        RAISE EXCEPTION 'the tasks of run % were deleted: its queue does not keep them any longer',
                        (SELECT run.run_id FROM lockstep.run WHERE run.run_no = own.run_no)
            USING ERRCODE = 'LS002', HINT = 'Publish the work again as another run.';
    END IF;
    SELECT run.run_id, run.status, run.ended_at, run.implicit OR q.runs = 'serial' AS serial,
           COALESCE(q.max_attempts, q.default_attempts, 3) AS max_attempts INTO STRICT run_row
    FROM lockstep.run JOIN lockstep.queue q USING (queue_id) WHERE run.run_no = own.run_no;
    -- A worker may be taking an external task at this moment (next_task): then its row is locked, and it counts as
    -- owned.
    free := ARRAY(SELECT t.task_id
                  FROM lockstep.phase p JOIN lockstep.task t USING (phase_id)
                  WHERE p.run_no = own.run_no AND p."order" > own."order" AND p.opened_at IS NOT NULL
                    AND p.done_at IS NULL AND p.external AND t.type = 'external' AND lockstep.is_unstarted(t.status)
                  ORDER BY t.task_id + 0 FOR NO KEY UPDATE OF t SKIP LOCKED); -- + 0: see run_cancel
    SELECT p."order" INTO blocking
    FROM lockstep.phase p
    WHERE p.run_no = own.run_no AND p."order" > own."order" AND p.opened_at IS NOT NULL AND p.done_at IS NULL
      AND (SELECT true FROM lockstep.task t WHERE t.phase_id = p.phase_id
                  AND (t.executor_no IS NOT NULL OR (t.type = 'external' AND NOT t.task_id = ANY (free)))
                  AND NOT lockstep.is_finished(t.status) LIMIT 1)
    ORDER BY p."order" LIMIT 1;
    IF FOUND THEN
        verdict := 'refused';
        RETURN;
    END IF;
    verdict := 'reopened';
    SELECT pg_catalog.array_agg(t.task_id) INTO chosen
    FROM (SELECT k.task_id
          FROM lockstep.task k
          WHERE k.phase_id = p_phase_id AND (p_task_ids IS NULL OR k.task_id = ANY (p_task_ids))
            AND (lockstep.is_failed(k.status)
                 OR (k.status IN ('Completed', 'Cancelled') AND p_task_ids IS NOT NULL)
                 OR (k.status = 'Cancelled' AND k.skipped IS NULL
                     AND lockstep.cancelled_by_failure(own.run_no, own."order")))
          ORDER BY k.task_id FOR NO KEY UPDATE) AS t;
    before := CASE WHEN run_row.serial THEN lockstep.reopen_before(own.run_no, own."order") END;
    stays_open := before IS NULL AND NOT EXISTS (
        SELECT FROM lockstep.phase b WHERE b.run_no = own.run_no AND b."order" < own."order" AND b.done_at IS NULL);
    -- else its gate decides
    IF own.conditional AND stays_open AND NOT lockstep.run_failed_before(own.run_no, own."order") THEN
        chosen := (SELECT pg_catalog.array_agg(t.task_id) FROM lockstep.task t
                   WHERE t.task_id = ANY (chosen) AND t.condition IS DISTINCT FROM 'failure');
    END IF;
    keyless := lockstep.key_take(own.queue_id, run_row.run_id, chosen);
    IF keyless <> '{}' THEN
        chosen := (SELECT pg_catalog.array_agg(c) FROM pg_catalog.unnest(chosen) AS c WHERE c <> ALL (keyless));
    END IF;
    IF chosen IS NULL AND (p_task_ids IS NULL OR p_task_ids <> '{}') THEN
        RETURN; -- nothing to do, and nothing is closed
    END IF;

    PERFORM lockstep.event_freeze(own.run_no);
    PERFORM lockstep.run_uncancel(own.run_no);
    stop := (SELECT run.stop_after FROM lockstep.run
             WHERE run.run_no = own.run_no AND (chosen IS NULL OR run.stop_after < own."order"));
    UPDATE lockstep.phase p SET opened_at = NULL, after_runs = false
    WHERE p.run_no = own.run_no AND p."order" > own."order" AND p.done_at IS NULL
      AND (p.opened_at IS NOT NULL OR p.after_runs);
    -- Its own phase: closed if it has to wait, for a phase before it or for a run.
    UPDATE lockstep.phase p
    SET done_at = NULL, after_runs = p.after_runs OR before IS NOT NULL,
        opened_at = CASE WHEN stays_open THEN p.opened_at END
    WHERE p.phase_id = p_phase_id;
    UPDATE lockstep.run
    SET reopened_at = pg_catalog.clock_timestamp(), ended_at = NULL,
        status = CASE WHEN run_row.ended_at IS NOT NULL THEN 'Running' ELSE run.status END,
        after_run_no = CASE WHEN run_row.ended_at IS NOT NULL AND run_row.serial THEN before ELSE run.after_run_no END,
        stop_after = stop,
        stop_lifted = LEAST(CASE WHEN stop IS NULL THEN run.stop_after END, run.stop_lifted), -- passes NULL over
        error = CASE WHEN stop IS NOT NULL THEN run.error END
    WHERE run.run_no = own.run_no;
    -- The phase that is being filled may have been cancelled as a whole, or may have been open when the run was
    -- cancelled: the tasks that are claimed for it from now on are not cancelled, and wait.
    UPDATE lockstep.phase p SET done_at = NULL, opened_at = NULL
    FROM lockstep.run
    WHERE run.run_no = own.run_no AND p.phase_id = run.last_phase_id AND p."order" > own."order"
      AND run.end_offset IS NULL AND run.stop_after IS NULL AND p.done_at IS NOT NULL;
    IF run_row.ended_at IS NOT NULL THEN
        INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
        VALUES ('run_reopened', own.queue_id, own.run_no, pg_catalog.format('it was %s: %s', run_row.status, p_why));
    END IF;
    IF chosen IS NULL THEN
        RETURN;
    END IF;

    reopened := lockstep.reopen_tasks(chosen, run_row.max_attempts);
    INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, detail)
    VALUES ('tasks_reopened', own.queue_id, own.run_no, p_phase_id,
            pg_catalog.format('%s of order %s: %s', reopened, own."order", p_why));
    PERFORM pg_catalog.pg_notify('lockstep_' || own.queue_id, 'work');
    PERFORM lockstep.worker_tell(own.queue_id);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.reopen(bigint, bigint[], text) FROM PUBLIC;
