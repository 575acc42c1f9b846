-- An operator cancels a run. Tasks that are not running are Cancelled at once and their tokens are void. A running task
-- is stopped by its executor, which is notified, and ends as Terminated (or Completed, if it was quicker). Messages
-- that are still on the topic are recorded as Cancelled when they are claimed (stop_after 0). The run has ended when
-- none of its tasks runs: until then the next run waits, so the order is kept. The run does not wait for its end
-- message: it may never come, and no message before it will run.
--   cancelled   tasks that are cancelled
--   stopping    tasks that still run
--   status      of the run after the call
CREATE OR REPLACE FUNCTION lockstep.run_cancel(run_id uuid, reason text DEFAULT NULL, queue text DEFAULT NULL,
    OUT status text, OUT cancelled bigint, OUT stopping bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    no CONSTANT bigint := lockstep.run_named(run_cancel.run_id, run_cancel.queue);
    own CONSTANT int := (SELECT r.queue_id FROM lockstep.run r WHERE r.run_no = no);
    why CONSTANT text := concat_ws(': ', 'cancelled by ' || lockstep.actor(), reason);
    r record;
    touched bigint[];
    orphans bigint[];
    living int[];
BEGIN
    PERFORM FROM lockstep.queue q WHERE q.queue_id = own FOR NO KEY UPDATE;
    -- A gate of its first phase holds the row for a moment; a statement of its own sees the changes of that gate.
    PERFORM FROM lockstep.run b WHERE b.run_no = no FOR NO KEY UPDATE;
    SELECT b.status, b.ended_at, b.stop_after, b.cancelled_by, b.cancelled_at INTO STRICT r
    FROM lockstep.run b WHERE b.run_no = no;
    IF r.ended_at IS NOT NULL THEN
        RAISE EXCEPTION 'run % has ended: it is %', run_cancel.run_id, r.status
            USING ERRCODE = 'LS002', HINT = format(CASE WHEN lockstep.run_retryable(no)
                THEN 'To run again what failed or was cancelled: lockstep run retry %s'
                ELSE 'To see how it ended: lockstep run show %s' END, run_cancel.run_id);
    ELSIF r.cancelled_at IS NOT NULL THEN
        RAISE EXCEPTION 'run % is being cancelled already, by %', run_cancel.run_id, r.cancelled_by
            USING ERRCODE = 'LS002', HINT = format('What it waits for: lockstep run explain %s', run_cancel.run_id);
    END IF;
    UPDATE lockstep.run
    SET cancelled_by = lockstep.actor(), cancelled_at = clock_timestamp(), stop_kept = r.stop_after, stop_after = 0,
        error = why, status = CASE WHEN run.status = 'Paused' THEN 'Running' ELSE run.status END, paused_by = NULL,
        paused_at = NULL, failure_at = NULL
    WHERE run_no = no;
    -- In ascending order, as gates do.
    PERFORM FROM lockstep.phase p WHERE p.run_no = no AND p.done_at IS NULL ORDER BY p."order" FOR UPDATE;
    -- + 0: in the order of the primary key, but not by it, for so all tasks that there are would be read.
    -- Skipped: the row of an attempt that is being recorded right now. If it does not end there, give_up finds it: it
    -- looks at the run.
    touched := ARRAY(
        SELECT t.task_id FROM lockstep.task t JOIN lockstep.phase p USING (phase_id)
        WHERE p.run_no = no AND p.done_at IS NULL AND lockstep.is_unstarted(t.status)
        ORDER BY t.task_id + 0 FOR NO KEY UPDATE OF t SKIP LOCKED);
    UPDATE lockstep.task t
    SET status = 'Cancelled', token = NULL, executor_no = NULL, scheduled_for = NULL, cancelled_by = lockstep.actor(),
        error = 'the run was ' || why, updated_at = clock_timestamp()
    WHERE t.task_id = ANY (touched) AND lockstep.is_unstarted(t.status);
    GET DIAGNOSTICS cancelled = ROW_COUNT;
    -- A task that was running when its executor died: no executor is there to stop it.
    living := lockstep.executors_living();
    orphans := ARRAY(
        SELECT t.task_id FROM lockstep.task t JOIN lockstep.phase p USING (phase_id)
        WHERE p.run_no = no AND p.done_at IS NULL AND t.status = 'Processing'
          AND (t.executor_no IS NULL OR t.executor_no <> ALL (living))
        ORDER BY t.task_id + 0 FOR NO KEY UPDATE OF t SKIP LOCKED);
    cancelled := cancelled + lockstep.task_stopped(orphans);
    UPDATE lockstep.phase p SET done_at = clock_timestamp()
    WHERE p.run_no = no AND p.done_at IS NULL AND p.opened_at IS NULL
      AND (SELECT t.task_id
           FROM lockstep.task t WHERE t.phase_id = p.phase_id AND NOT lockstep.is_finished(t.status) LIMIT 1) IS NULL;
    SELECT count(*) INTO stopping FROM lockstep.task t JOIN lockstep.phase p USING (phase_id)
    WHERE p.run_no = no AND p.done_at IS NULL AND NOT lockstep.is_finished(t.status);
    INSERT INTO lockstep.event_log (event, queue_id, run_no, job, detail)
    VALUES ('run_cancelled', own, no,
            (SELECT j.name FROM lockstep.run b JOIN lockstep.job j USING (job_id) WHERE b.run_no = no),
            concat_ws(': ', format('%s cancelled, %s to be stopped', lockstep.counted(cancelled, 'task'), stopping),
                      reason));
    PERFORM pg_notify('lockstep_' || own, 'cancel');
    status := COALESCE(lockstep.run_finish(no), (SELECT b.status FROM lockstep.run b WHERE b.run_no = no));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_cancel(uuid, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_cancel(uuid, text, text) TO lockstep_operator;
