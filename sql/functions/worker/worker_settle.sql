-- Runs at the commit of a transaction in which a worker has reported a task as finished: the run's policy is applied if
-- the task failed; if it was the last external task of its phase, gates are notified to check again and the run's end
-- is tried. Fired by lockstep.worker_report at the commit, so that no client decides how long the queue's row is
-- locked. Two workers that report the last two tasks call this one after the other, and the second sees the changes
-- that the first has committed. An executor that completes an SQL task of the same phase at this moment tries the run's
-- end after its own commit (see release).
CREATE OR REPLACE FUNCTION lockstep.worker_settle() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    t record;
BEGIN
    DELETE FROM lockstep.worker_report WHERE report_id = NEW.report_id;
    SELECT k.queue_id, k.run_no, k.phase_id, k."order", k.status, k.error, k.worker INTO STRICT t
    FROM lockstep.task k WHERE k.task_id = NEW.task_id;
    PERFORM FROM lockstep.queue q WHERE q.queue_id = t.queue_id FOR NO KEY UPDATE;
    IF lockstep.is_failed(t.status) THEN
        INSERT INTO lockstep.event_log (event, queue_id, run_no, phase_id, task_id, detail)
        VALUES (CASE WHEN t.status = 'Terminated' THEN 'task_terminated' ELSE 'task_failed' END, t.queue_id, t.run_no,
                t.phase_id, NEW.task_id, concat_ws(': ', 'worker ' || t.worker, t.error));
        PERFORM lockstep.run_fail(t.run_no, t."order",
                                  format('task %s of order %s %s: %s', NEW.task_id, t."order",
                                         CASE t.status WHEN 'Failed' THEN 'failed' ELSE 'is ' || t.status END,
                                         COALESCE(t.error, 'no reason was given')));
    END IF;
    -- From the end: the oldest tasks are taken first, so unfinished ones are there.
    IF COALESCE((SELECT false FROM lockstep.task k
                 WHERE k.phase_id = t.phase_id AND k.type = 'external' AND NOT lockstep.is_finished(k.status)
                 ORDER BY k.kafka_offset DESC LIMIT 1), true) THEN
        PERFORM pg_notify('lockstep_' || t.queue_id, 'external');
        PERFORM lockstep.run_finish(t.run_no);
    END IF;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.worker_settle() FROM PUBLIC;
