-- An external worker reports on a task that next_task assigned to it.
--   status   Completed; Error: the attempt failed (Failed if it was the last); Failed: finally; PartiallyCompleted:
--            some steps are done, the rest is given up; Processing: it continues, the lease starts again; Pending:
--            returned, no attempt is counted. Other words are not for workers (LS002). A transition that the guard
--            refuses raises 23514.
--   step, response   kept when NULL
--   error   why it failed
--   scheduled_for    with Error or Pending: not before; NULL: by the message's or the queue's retry_intervals
-- A stale updated_at raises LS001, and the task is unchanged. The answer is the row after the change; its updated_at is
-- the next token. worker_settle applies the policy and ends the run, at the commit.
CREATE OR REPLACE FUNCTION lockstep.modify_task(
    task_id bigint, updated_at timestamptz, status text, step text DEFAULT NULL, response text DEFAULT NULL,
    error text DEFAULT NULL, scheduled_for timestamptz DEFAULT NULL)
RETURNS lockstep.worker_task
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    t lockstep.task;
    wanted lockstep.status;
    due timestamptz := modify_task.scheduled_for;
    ended CONSTANT timestamptz := clock_timestamp();
    answer lockstep.worker_task;
BEGIN
    IF (modify_task.status IN ('Completed', 'Error', 'Failed', 'PartiallyCompleted', 'Processing', 'Pending'))
        IS NOT TRUE THEN
        RAISE EXCEPTION '%',
                        CASE WHEN modify_task.status = ANY (enum_range(NULL::lockstep.status)::text[])
                             THEN format('task %s: %s is no word of a worker', modify_task.task_id, modify_task.status)
                             ELSE format('there is no status %s', COALESCE(modify_task.status, 'NULL')) END
            USING ERRCODE = 'LS002',
                  HINT = 'Report Completed, Error, Failed, PartiallyCompleted, Processing or Pending.';
    ELSIF GREATEST(octet_length(modify_task.response), octet_length(modify_task.error)) > 1000000
          OR char_length(modify_task.step) > 1000 THEN
        RAISE EXCEPTION 'task %: a response or an error has at most 1000000 bytes, a step 1000 characters',
                        modify_task.task_id
            USING ERRCODE = 'LS002', HINT = 'Keep large results in a table of your own.';
    END IF;
    t := lockstep.worker_held(modify_task.task_id, modify_task.updated_at);
    wanted := CASE WHEN modify_task.status = 'Error' AND t.attempt_num >= t.max_attempts THEN 'Failed'
                   ELSE modify_task.status END;
    IF due IS NOT NULL
       AND (NOT lockstep.is_processable(modify_task.status::lockstep.status)
            OR due NOT BETWEEN '-infinity' AND ended + interval '100 years') THEN
        RAISE EXCEPTION 'task %: scheduled_for % does not go with status %', t.task_id, due, modify_task.status
            USING ERRCODE = 'LS002',
                  HINT = 'Give it with Error or Pending only, for the time when the task is due, within 100 years.';
    ELSIF wanted = 'Error' AND due IS NULL THEN
        due := ended + interval '1 second' * lockstep.retry_seconds(
                           t.task_id, t.payload::json, (SELECT q.retry_intervals
                                                        FROM lockstep.queue q WHERE q.queue_id = t.queue_id));
    END IF;

    UPDATE lockstep.task k
    SET status = wanted, step = COALESCE(modify_task.step, k.step),
        response = COALESCE(modify_task.response, k.response),
        error = CASE wanted WHEN 'Completed' THEN NULL ELSE COALESCE(modify_task.error, k.error) END,
        scheduled_for = CASE WHEN lockstep.is_processable(wanted) THEN due END,
        worker = CASE WHEN NOT lockstep.is_processable(wanted) THEN k.worker END,
        started_at = CASE WHEN wanted <> 'Pending' THEN k.started_at END,
        duration = CASE WHEN wanted NOT IN ('Processing', 'Pending') THEN ended - k.started_at END,
        lease_until = CASE wanted
                           WHEN 'Processing' THEN LEAST(
                               GREATEST(k.lease_until,
                                        ended + (SELECT q.external_lease
                                                 FROM lockstep.queue q WHERE q.queue_id = k.queue_id)),
                               k.started_at + (k.payload::json ->> 'timeout')::float8 * interval '1 second') END,
        updated_at = GREATEST(ended, k.updated_at + interval '1 microsecond')
    WHERE k.task_id = t.task_id
    RETURNING k.task_id, k.updated_at, k.status, k.step, k.attempt_num, k.max_attempts, k.response, k.error,
              k.scheduled_for, k.started_at, k.duration, k.lease_until
    INTO answer;
    IF wanted IN ('Error', 'Failed', 'PartiallyCompleted', 'Terminated') THEN
        INSERT INTO lockstep.task_attempt (task_id, attempt, status, worker, started_at, ended_at, error)
        VALUES (t.task_id, t.attempt_num, wanted, t.worker, t.started_at, ended, answer.error);
    END IF;
    IF lockstep.is_finished(wanted) THEN
        INSERT INTO lockstep.worker_report (task_id) VALUES (t.task_id);
    ELSIF wanted = 'Pending' THEN
        PERFORM pg_notify('lockstep_external', (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = t.queue_id));
    END IF;
    RETURN answer;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.modify_task(bigint, timestamptz, text, text, text, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.modify_task(bigint, timestamptz, text, text, text, text, timestamptz)
    TO lockstep_worker;
