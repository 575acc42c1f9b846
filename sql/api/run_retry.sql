-- An operator retries the failed tasks of a run, and the tasks that were cancelled because of them, from the first such
-- phase on, in order. For a cancelled run: all tasks that were cancelled. The run has ended, or is paused, which this
-- ends. A run of which all that failed was declared done, with nothing behind it, ends once more, as its tasks are now,
-- and no task is retried. See reopen.
CREATE OR REPLACE FUNCTION lockstep.run_retry(run_id uuid, reason text DEFAULT NULL, queue text DEFAULT NULL,
    OUT tasks bigint, OUT phases int, OUT "order" bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    no CONSTANT bigint := lockstep.run_named(run_retry.run_id, run_retry.queue);
    own CONSTANT int := (SELECT r.queue_id FROM lockstep.run r WHERE r.run_no = no);
    why CONSTANT text := concat_ws(': ', 'retried by ' || lockstep.actor(), reason);
    r record;
    p record;
    done record;
    is_repaired boolean := false;
BEGIN
    PERFORM FROM lockstep.queue q WHERE q.queue_id = own FOR NO KEY UPDATE;
    PERFORM FROM lockstep.run b WHERE b.run_no = no FOR NO KEY UPDATE;
    SELECT b.status, b.ended_at, b.error, b.cancelled_at, b.cancelled_by, b.swept, b.last_phase_id INTO STRICT r
    FROM lockstep.run b WHERE b.run_no = no;
    IF r.swept THEN
        RAISE EXCEPTION 'the tasks of run % were deleted: its queue does not keep them any longer', run_retry.run_id
            USING ERRCODE = 'LS002', HINT = 'Publish the work again as another run.';
    END IF;
    IF r.ended_at IS NULL AND r.cancelled_at IS NOT NULL THEN
        RAISE EXCEPTION 'run % is being cancelled, by %: it can be retried when that has ended', run_retry.run_id,
                        r.cancelled_by
            USING ERRCODE = 'LS002', HINT = format('What it waits for: lockstep run explain %s', run_retry.run_id);
    ELSIF r.ended_at IS NULL AND r.status <> 'Paused' THEN
        RAISE EXCEPTION 'run % has not ended: it is %', run_retry.run_id, r.status
            USING ERRCODE = 'LS002',
                  HINT = format('Retry it when it has ended. To follow it: lockstep run watch %s', run_retry.run_id);
    END IF;
    -- A failed task may have been declared done since: then no task of the phase that stopped the run is reopened. A
    -- loss (0) stays. Of a cancelled run stop_after is 0 until it is reopened, and then what stop_kept says.
    UPDATE lockstep.run
    SET stop_lifted = LEAST(run.stop_lifted, COALESCE(run.stop_kept, run.stop_after)), stop_kept = NULL,
        stop_after = CASE WHEN run.cancelled_at IS NOT NULL THEN run.stop_after END, error = NULL
    WHERE run_no = no AND COALESCE(run.stop_kept, run.stop_after) > 0;
    tasks := 0;
    phases := 0;
    -- Chosen before any task is reopened: a reopening removes the cause for which the run was stopped.
    FOR p IN SELECT h.phase_id, h."order", array_agg(h.task_id) AS ids
             FROM lockstep.run_retried(no) AS h GROUP BY h.phase_id, h."order" ORDER BY h."order" LOOP
        SELECT * INTO STRICT done FROM lockstep.reopen(p.phase_id, p.ids, why);
        IF done.verdict = 'refused' THEN
            RAISE EXCEPTION 'run %: order % cannot be retried while order % is at work', run_retry.run_id, p."order",
                            done.blocking
                USING ERRCODE = 'LS002', HINT = 'Wait for it, or cancel its tasks.';
        END IF;
        tasks := tasks + done.reopened;
        phases := phases + 1;
        "order" := COALESCE(run_retry."order", p."order");
    END LOOP;
    -- Not of a run that was refused before anything of it was on the topic: that one has no phase.
    IF tasks = 0 AND r.status IN ('Failed', 'PartiallyCompleted') AND r.last_phase_id IS NOT NULL THEN
        PERFORM lockstep.reopen(r.last_phase_id, '{}', why);
        is_repaired := COALESCE(lockstep.run_finish(no) = 'Completed', false);
    END IF;
    IF tasks = 0 AND NOT is_repaired THEN
        RAISE EXCEPTION 'run %: nothing of it failed or was cancelled for a failure; it is %', run_retry.run_id,
                        concat_ws(': ', r.status, r.error)
            USING ERRCODE = 'LS002',
                  HINT = CASE WHEN r.status = 'Paused'
                                  THEN format('To continue it: lockstep run resume %s', run_retry.run_id)
                              ELSE 'Publish the work again as another run.' END;
    END IF;
    UPDATE lockstep.run SET status = 'Running', paused_by = NULL, paused_at = NULL, failure_at = NULL
    WHERE run_no = no AND run.status = 'Paused';
    INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
    VALUES ('run_retried', own, no,
            concat_ws(': ',
                      CASE WHEN is_repaired THEN 'all that failed was declared done'
                           ELSE format('%s in %s, from order %s on', lockstep.counted(tasks, 'task'),
                                       lockstep.counted(phases, 'phase'), "order") END,
                      reason));
    PERFORM pg_notify('lockstep_' || own, 'control');
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_retry(uuid, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_retry(uuid, text, text) TO lockstep_operator;
