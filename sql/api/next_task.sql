-- An external worker asks for work: the oldest external task of the queue that is due, of an open phase, of a run and a
-- queue that no operator holds; at most one row. A failure under the policy pause does not hold its phase. The task is
-- Processing until the worker reports (modify_task) or its lease runs out.
--   types   only tasks of these types (the message's kind, else external); NULL: of any
-- A task whose payload cannot be read as jsonb (or whose time-out is no interval) is failed for that, and the next one
-- is taken. updated_at is the concurrency token: every later call for this task names it, and gets the next one.
--
-- No lock of the phase is held: a worker's transaction may stay open, and a gate must not wait for it. Instead the
-- task's row is locked first and the phase is checked afterwards, in a statement of its own. A function that closes a
-- phase (reopen) locks its external tasks first, and is refused if one is locked or being worked on.
CREATE OR REPLACE FUNCTION lockstep.next_task(queue text, worker text, types text[] DEFAULT NULL)
RETURNS TABLE (task_id bigint, updated_at timestamptz, name text, type text, step text, attempt_num int, payload jsonb,
               run_id uuid, "order" bigint, max_attempts int, lease_until timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    queue_row record;
    chosen bigint;
    text_of text;
    body jsonb;
    lease interval;
    why text;
    at timestamptz;
BEGIN
    PERFORM lockstep.worker_begin();
    IF next_task.worker IS NULL OR char_length(next_task.worker) NOT BETWEEN 1 AND 200 THEN
        RAISE EXCEPTION 'a worker needs a name of 1 to 200 characters'
            USING ERRCODE = 'LS002', HINT = 'Give a name for people, such as host and pid.';
    END IF;
    SELECT b.queue_id, b.paused, b.external_lease, lockstep.queue_is_copy(b) AS is_copy INTO queue_row
    FROM lockstep.queue b WHERE b.name = next_task.queue;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no queue %', COALESCE(next_task.queue, 'without a name')
            USING ERRCODE = 'LS003', HINT = 'lockstep queue list';
    END IF;
    IF queue_row.is_copy THEN
        RAISE EXCEPTION 'queue % was worked on by another server or in another database: this is a copy, nothing of it '
                        'is given out',
                        next_task.queue
            USING ERRCODE = 'LS002',
                  HINT = format('If it is meant to run here: lockstep queue resume %s --accept-server',
                                next_task.queue);
    END IF;
    PERFORM lockstep.worker_expire(queue_row.queue_id);
    IF queue_row.paused THEN
        RETURN;
    END IF;
    LOOP
        -- Phase by phase, so that one task is read and the backlog is not sorted. Skipped: a task that another worker
        -- takes at this moment.
        SELECT t.task_id, t.payload INTO chosen, text_of
        FROM (SELECT p.phase_id
              FROM lockstep.phase p JOIN lockstep.run r USING (run_no)
              WHERE p.queue_id = queue_row.queue_id AND p.external AND p.opened_at IS NOT NULL AND p.done_at IS NULL
                AND r.paused_by IS NULL AND r.cancelled_at IS NULL
              ORDER BY p.run_no, p."order" OFFSET 0) AS o
        CROSS JOIN LATERAL (
            SELECT k.task_id, k.payload FROM lockstep.task k -- by task_offered
            WHERE k.phase_id + 0 = o.phase_id AND k.type = 'external' AND k.worker IS NULL
              AND lockstep.is_processable(k.status) AND k.cancelled_by IS NULL
              AND (k.scheduled_for IS NULL OR k.scheduled_for <= clock_timestamp())
              AND (next_task.types IS NULL OR COALESCE(k.payload::json ->> 'kind', 'external') = ANY (next_task.types))
            ORDER BY k.kafka_offset LIMIT 1
            FOR NO KEY UPDATE SKIP LOCKED) AS t
        LIMIT 1;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        PERFORM FROM lockstep.task k JOIN lockstep.phase p USING (phase_id) JOIN lockstep.run r ON r.run_no = p.run_no
        WHERE k.task_id = chosen AND lockstep.is_processable(k.status) AND p.opened_at IS NOT NULL AND p.done_at IS NULL
          AND r.paused_by IS NULL AND r.cancelled_at IS NULL;
        IF NOT FOUND THEN
            RETURN; -- closed, held or cancelled at this moment: come again
        END IF;
        at := clock_timestamp();
        BEGIN
            body := text_of::jsonb;
            lease := LEAST(queue_row.external_lease, (body ->> 'timeout')::float8 * interval '1 second');
            EXIT;
        EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
            why := format('its message cannot be given to a worker: %s', SQLERRM);
        END;
        UPDATE lockstep.task k
        SET status = 'Failed', error = why, scheduled_for = NULL,
            updated_at = GREATEST(at, k.updated_at + interval '1 microsecond')
        WHERE k.task_id = chosen;
        INSERT INTO lockstep.task_attempt (task_id, attempt, status, started_at, ended_at, error)
        SELECT k.task_id, GREATEST(k.attempt_num, 1), 'Failed', at, at, why
        FROM lockstep.task k
        WHERE k.task_id = chosen
        ON CONFLICT (task_id, attempt) DO UPDATE SET status = 'Failed', error = EXCLUDED.error;
        INSERT INTO lockstep.worker_report (task_id) VALUES (chosen);
    END LOOP;
    RETURN QUERY
    UPDATE lockstep.task k
    SET status = 'Processing', worker = next_task.worker, started_at = at, duration = NULL, scheduled_for = NULL,
        attempt_num = k.attempt_num + CASE WHEN k.status = 'Error' THEN 1 ELSE 0 END,
        lease_until = at + lease,
        updated_at = GREATEST(at, k.updated_at + interval '1 microsecond')
    FROM lockstep.run r
    WHERE k.task_id = chosen AND r.run_no = k.run_no
    RETURNING k.task_id, k.updated_at, k.name, COALESCE(body ->> 'kind', 'external'), k.step, k.attempt_num,
              body, r.run_id, k."order", k.max_attempts, k.lease_until;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.next_task(text, text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.next_task(text, text, text[]) TO lockstep_worker;
