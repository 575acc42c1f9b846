-- Why a task does not run, or does not end: see explain. p_whole: with what holds up its phase, its run, its queue.
CREATE OR REPLACE FUNCTION lockstep.explain_task(p_task_id bigint, p_whole boolean DEFAULT true) RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    t record;
    e record;
    living int[];    -- executors of its queue, if it waits for one that is able to do it
    lacking text[];  -- what of it some of them lack
    what text;
    owner text := '';
    n text[];
    backend int;
    blind CONSTANT boolean := lockstep.explain_blind();
    hidden boolean;
    holder int;
    made lockstep.explanation;
    open boolean;
    now timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT k.task_id, k.needs, k.phase_id, k.run_no, k.queue_id, k.status, k."order", k.name, k.executor_no, k.error, k.scheduled_for, k.started_at, k.attempt_num,
           k.updated_at, k.cancelled_by, k.skipped, k.type, k.worker, k.lease_until, k.step, k.payload, k.backend_pid INTO STRICT t FROM lockstep.task k WHERE k.task_id = p_task_id;
    SELECT x.executor_id, x.host, x.pid, x.trouble_kind, x.trouble, x.trouble_at, blind OR lockstep.executor_lives(x.executor_no) AS lives INTO e FROM lockstep.executor x WHERE x.executor_no = t.executor_no;
    SELECT p.opened_at IS NOT NULL INTO STRICT open FROM lockstep.phase p WHERE p.phase_id = t.phase_id;
    what := pg_catalog.concat_ws(' ', 'task', t.task_id, '"' || t.name || '"', 'of order', t."order");
    n := ARRAY['TASK', t.task_id::text, 'QUEUE', (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = t.queue_id), 'EXECUTOR', e.executor_id::text,
               'HOST', e.host, 'PID', e.pid::text];
    IF t.needs IS NOT NULL AND t.executor_no IS NULL THEN
        living := ARRAY(SELECT x.executor_no
                        FROM (SELECT b.executor_no FROM lockstep.executor b JOIN lockstep.queue q ON q.name = ANY (b.queues)
                              WHERE q.queue_id = t.queue_id AND b.ended_at IS NULL OFFSET 0) AS x WHERE blind OR lockstep.executor_lives(x.executor_no));
        lacking := ARRAY(SELECT w.need FROM pg_catalog.unnest(t.needs) AS w (need)
                         WHERE EXISTS (SELECT FROM lockstep.executor b WHERE b.executor_no = ANY (living) AND w.need = ANY (b.unable)));
    END IF;
    IF e.executor_id IS NOT NULL THEN
        owner := pg_catalog.format(' executor %s on %s (pid %s)', e.executor_id, e.host, e.pid);
    END IF;
    IF lockstep.is_finished(t.status) THEN
        RETURN NEXT lockstep.explain_row(CASE WHEN t.status = 'Completed' OR t.skipped IS NOT NULL OR (
                SELECT r.swept OR (r.cancelled_at IS NOT NULL AND r.ended_at IS NULL)
                       OR EXISTS (SELECT FROM lockstep.phase p WHERE p.run_no = r.run_no AND p."order" > t."order" AND p.opened_at IS NOT NULL AND p.done_at IS NULL)
                FROM lockstep.run r WHERE r.run_no = t.run_no) THEN 'task_finished' ELSE 'task_retryable' END, pg_catalog.concat_ws(': ', what || ' is ' || t.status, t.error), what, t.updated_at, n);
        RETURN;
    END IF;
    -- Whoever has its row locked keeps it from being cancelled, too.
    holder := CASE WHEN NOT blind THEN (lockstep.task_holders(p_task_id))[1] END;
    RETURN QUERY
    SELECT x.* FROM lockstep.explain_session(holder) AS s
    CROSS JOIN LATERAL lockstep.explain_row('row_held', pg_catalog.format('backend %s holds the row of %s in an open transaction (%s)%s', holder, what, s.is,
        ': ' || NULLIF(s.query, '')), what, s.since, n || ARRAY['PID', holder::text]) AS x;
    IF t.status = 'Processing' AND e.lives THEN
        backend := CASE WHEN NOT blind THEN lockstep.explain_backend(t.executor_no, t.backend_pid) END;
        IF backend IS NULL AND t.backend_pid IS NOT NULL AND e.trouble_kind = 'login' AND NOT blind THEN
            RETURN NEXT lockstep.explain_row('task_lost_session', pg_catalog.format(
                '%s has lost its session (backend %s), and what has become of its attempt is found out when%s can open another one, which it cannot for %s: %s',
                what, t.backend_pid, owner, lockstep.explain_words(now - e.trouble_at), e.trouble), what, e.trouble_at, n);
            RETURN;
        END IF;
        made := lockstep.explain_row(CASE WHEN t.cancelled_by IS NULL THEN 'task_running' ELSE 'task_stopping' END,
            pg_catalog.format('%s%s runs for %s%s on%s%s', what, ', to be stopped for ' || t.cancelled_by || ',', lockstep.explain_words(now - t.started_at),
                              ', with step "' || t.step || '"', owner, ', backend ' || backend), what, t.started_at, n);
        made.helps := CASE WHEN holder IS NULL THEN made.helps ELSE 'Nothing before the transaction that holds its row has ended' END;
        RETURN NEXT made;
        RETURN QUERY SELECT * FROM lockstep.explain_blocked(what, backend, n);
        SELECT s.hidden INTO hidden FROM lockstep.explain_session(backend) AS s;
        IF hidden THEN
            RETURN NEXT lockstep.explain_hidden(what, 'backend ' || backend);
        END IF;
        RETURN;
    END IF;
    IF t.type = 'external' AND t.status = 'Processing' THEN
        made := lockstep.explain_row('task_with_worker', pg_catalog.format('%s is with worker %s for %s%s; its lease %s', what, t.worker,
            lockstep.explain_words(now - t.started_at), ', step ' || t.step,
            CASE WHEN t.lease_until < now THEN 'ran out ' || lockstep.explain_words(now - t.lease_until) || ' ago: it is given back to whoever asks next'
                 ELSE 'ends in ' || lockstep.explain_words(t.lease_until - now) END), what, t.started_at, n);
        made.helps := CASE WHEN holder IS NULL THEN made.helps ELSE 'Wait for its report, or for the end of the transaction that holds its row' END;
        RETURN NEXT made;
        RETURN;
    ELSIF t.status = 'Paused' THEN
        RETURN NEXT lockstep.explain_row('task_paused', what || ' is held by an operator', what, t.updated_at, n);
    ELSIF t.scheduled_for > now AND t.executor_no IS NULL THEN
        RETURN NEXT lockstep.explain_row(CASE WHEN t.status = 'Error' THEN 'task_retry_later' ELSE 'task_not_before' END,
            CASE WHEN t.status = 'Error'
                 THEN pg_catalog.format('attempt %s of %s failed (%s); the next one is due in %s, at %s', t.attempt_num, what, t.error,
                                        lockstep.explain_words(t.scheduled_for - now), pg_catalog.date_trunc('second', t.scheduled_for))
                 ELSE pg_catalog.format('%s may start in %s, at %s', what, lockstep.explain_words(t.scheduled_for - now), pg_catalog.date_trunc('second', t.scheduled_for)) END,
            what, t.updated_at, n);
    ELSIF open AND t.type = 'external' THEN
        RETURN NEXT lockstep.explain_row('task_offered', pg_catalog.format('%s waits for a worker%s to ask for it%s', what,
            ' of kind ' || (t.payload::json ->> 'kind'),
            (SELECT pg_catalog.format('; the last one seen in its phase was %s, %s ago', k.worker, lockstep.explain_words(now - k.updated_at))
             FROM lockstep.task k WHERE k.phase_id = t.phase_id AND k.worker IS NOT NULL ORDER BY k.updated_at DESC LIMIT 1)),
            what, t.updated_at, n);
    ELSIF living <> '{}' AND NOT EXISTS (SELECT FROM lockstep.executor b WHERE b.executor_no = ANY (living) AND NOT t.needs && b.unable) THEN
        RETURN NEXT lockstep.explain_row('task_nobody_able', pg_catalog.format('%s needs %s, which none of the executors of its queue (%s) has%s in its configuration',
            what, pg_catalog.array_to_string(lacking, ', '), pg_catalog.cardinality(living), CASE WHEN pg_catalog.cardinality(lacking) > 1 THEN ', all of it,' ELSE '' END),
            what, t.updated_at, n || (SELECT ARRAY['NEED', pg_catalog.array_to_string(lacking, ', '), 'PID', b.pid::text, 'HOST', b.host]
                                    FROM lockstep.executor b WHERE b.executor_no = living[1]));
    ELSIF open AND e.lives THEN
        RETURN NEXT lockstep.explain_row('task_in_hand', what || ' is in the hands of' || owner || ', which starts it when a reader is free', what, t.updated_at, n);
    ELSIF open THEN
        RETURN NEXT lockstep.explain_row('task_unowned', what || CASE WHEN t.executor_no IS NULL THEN ' may start, and no executor has taken it'
            ELSE ' was in the hands of' || owner || ', which is gone, and nobody has taken it over' END, what, t.updated_at, n);
    END IF;
    IF p_whole THEN
        RETURN QUERY SELECT x.* FROM lockstep.explain_run(t.run_no) AS x
        WHERE x.about <> what
          AND NOT (open AND t.type = 'external' -- a worker needs neither a reader nor an executor
                   AND x.reason IN ('no_executor', 'executors_drain', 'executors_without_readers', 'executor_silent', 'no_readers', 'readers_busy', 'slots_kept'));
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_task(bigint, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_task(bigint, boolean) TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
