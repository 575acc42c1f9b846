-- Why a task does not run, or does not end: see explain. p_whole: with what holds up its phase, its run, its queue.
CREATE OR REPLACE FUNCTION lockstep.explain_task(p_task_id bigint, p_whole boolean DEFAULT true) RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    task_row record;
    executor_row record;
    living int[];    -- executors of its queue, if it waits for one that is able to do it
    lacking text[];  -- what of it some of them lack
    what text;
    owner text := '';
    names text[];
    backend int;
    blind CONSTANT boolean := lockstep.explain_blind();
    hidden boolean;
    holder int;
    made lockstep.explanation;
    open boolean;
    now timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT k.task_id, k.needs, k.phase_id, k.run_no, k.queue_id, k.status, k."order", k.name, k.executor_no, k.error, k.scheduled_for, k.started_at, k.attempt_num,
           k.updated_at, k.cancelled_by, k.skipped, k.type, k.worker, k.lease_until, k.step, k.payload, k.backend_pid INTO STRICT task_row FROM lockstep.task k WHERE k.task_id = p_task_id;
    SELECT x.executor_id, x.host, x.pid, x.trouble_kind, x.trouble, x.trouble_at, blind OR lockstep.executor_lives(x.executor_no) AS lives INTO executor_row FROM lockstep.executor x WHERE x.executor_no = task_row.executor_no;
    SELECT p.opened_at IS NOT NULL INTO STRICT open FROM lockstep.phase p WHERE p.phase_id = task_row.phase_id;
    what := pg_catalog.concat_ws(' ', 'task', task_row.task_id, '"' || task_row.name || '"', 'of order', task_row."order");
    names := ARRAY['TASK', task_row.task_id::text, 'QUEUE', (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = task_row.queue_id), 'EXECUTOR', executor_row.executor_id::text,
               'HOST', executor_row.host, 'PID', executor_row.pid::text];
    IF task_row.needs IS NOT NULL AND task_row.executor_no IS NULL THEN
        living := ARRAY(SELECT x.executor_no
                        FROM (SELECT b.executor_no FROM lockstep.executor b JOIN lockstep.queue q ON q.name = ANY (b.queues)
                              WHERE q.queue_id = task_row.queue_id AND b.ended_at IS NULL OFFSET 0) AS x WHERE blind OR lockstep.executor_lives(x.executor_no));
        lacking := ARRAY(SELECT w.need FROM pg_catalog.unnest(task_row.needs) AS w (need)
                         WHERE EXISTS (SELECT FROM lockstep.executor b WHERE b.executor_no = ANY (living) AND w.need = ANY (b.unable)));
    END IF;
    IF executor_row.executor_id IS NOT NULL THEN
        owner := pg_catalog.format(' executor %s on %s (pid %s)', executor_row.executor_id, executor_row.host, executor_row.pid);
    END IF;
    IF lockstep.is_finished(task_row.status) THEN
        RETURN NEXT lockstep.explain_row(CASE WHEN task_row.status = 'Completed' OR task_row.skipped IS NOT NULL OR (
                SELECT r.swept OR (r.cancelled_at IS NOT NULL AND r.ended_at IS NULL)
                       OR EXISTS (SELECT FROM lockstep.phase p WHERE p.run_no = r.run_no AND p."order" > task_row."order" AND p.opened_at IS NOT NULL AND p.done_at IS NULL)
                FROM lockstep.run r WHERE r.run_no = task_row.run_no) THEN 'task_finished' ELSE 'task_retryable' END, pg_catalog.concat_ws(': ', what || ' is ' || task_row.status, task_row.error), what, task_row.updated_at, names);
        RETURN;
    END IF;
    -- Whoever has its row locked keeps it from being cancelled, too.
    holder := CASE WHEN NOT blind THEN (SELECT h.pid FROM pg_catalog.unnest(lockstep.task_holders(p_task_id)) AS h (pid)
                                        WHERE NOT lockstep.explain_passing(h.pid) LIMIT 1) END;
    RETURN QUERY
    SELECT x.* FROM lockstep.explain_session(holder) AS s
    CROSS JOIN LATERAL lockstep.explain_row('row_held', pg_catalog.format('backend %s holds the row of %s in an open transaction (%s)%s', holder, what, s.is,
        ': ' || NULLIF(s.query, '')), what, s.since, names || ARRAY['PID', holder::text]) AS x;
    IF task_row.status = 'Processing' AND executor_row.lives THEN
        backend := CASE WHEN NOT blind THEN lockstep.explain_backend(task_row.executor_no, task_row.backend_pid) END;
        IF backend IS NULL AND task_row.backend_pid IS NOT NULL AND executor_row.trouble_kind = 'login' AND NOT blind THEN
            RETURN NEXT lockstep.explain_row('task_lost_session', pg_catalog.format(
                '%s has lost its session (backend %s), and what has become of its attempt is found out when%s can open another one, which it cannot for %s: %s',
                what, task_row.backend_pid, owner, lockstep.explain_words(now - executor_row.trouble_at), executor_row.trouble), what, executor_row.trouble_at, names);
            RETURN;
        END IF;
        made := lockstep.explain_row(CASE WHEN task_row.cancelled_by IS NULL THEN 'task_running' ELSE 'task_stopping' END,
            pg_catalog.format('%s%s runs for %s%s on%s%s', what, ', to be stopped for ' || task_row.cancelled_by || ',', lockstep.explain_words(now - task_row.started_at),
                              ', with step "' || task_row.step || '"', owner, ', backend ' || backend), what, task_row.started_at, names);
        made.helps := CASE WHEN holder IS NULL THEN made.helps ELSE 'Nothing before the transaction that holds its row has ended' END;
        RETURN NEXT made;
        RETURN QUERY SELECT * FROM lockstep.explain_blocked(what, backend, names);
        SELECT s.hidden INTO hidden FROM lockstep.explain_session(backend) AS s;
        IF hidden THEN
            RETURN QUERY SELECT * FROM lockstep.explain_hidden();
        END IF;
        RETURN;
    END IF;
    IF task_row.type = 'external' AND task_row.status = 'Processing' THEN
        made := lockstep.explain_row('task_with_worker', pg_catalog.format('%s is with worker %s for %s%s; its lease %s', what, task_row.worker,
            lockstep.explain_words(now - task_row.started_at), ', step ' || task_row.step,
            CASE WHEN task_row.lease_until < now THEN 'ran out ' || lockstep.explain_words(now - task_row.lease_until) || ' ago: the next worker that asks gets it'
                 ELSE 'ends in ' || lockstep.explain_words(task_row.lease_until - now) END), what, task_row.started_at, names);
        made.helps := CASE WHEN holder IS NULL THEN made.helps ELSE 'Wait for its report, or for the end of the transaction that holds its row' END;
        RETURN NEXT made;
        RETURN;
    ELSIF task_row.status = 'Paused' THEN
        RETURN NEXT lockstep.explain_row('task_paused', what || ' is held by an operator', what, task_row.updated_at, names);
    ELSIF task_row.scheduled_for > now AND task_row.executor_no IS NULL THEN
        RETURN NEXT lockstep.explain_row(CASE WHEN task_row.status = 'Error' THEN 'task_retry_later' ELSE 'task_not_before' END,
            CASE WHEN task_row.status = 'Error'
                 THEN pg_catalog.format('attempt %s of %s failed (%s); the next one is due in %s, at %s', task_row.attempt_num, what, task_row.error,
                                        lockstep.explain_words(task_row.scheduled_for - now), pg_catalog.date_trunc('second', task_row.scheduled_for))
                 ELSE pg_catalog.format('%s may start in %s, at %s', what, lockstep.explain_words(task_row.scheduled_for - now), pg_catalog.date_trunc('second', task_row.scheduled_for)) END,
            what, task_row.updated_at, names);
    ELSIF open AND task_row.type = 'external' THEN
        RETURN NEXT lockstep.explain_row('task_offered', pg_catalog.format('%s waits for a worker%s to ask for it%s', what,
            ' of kind ' || (task_row.payload::json ->> 'kind'),
            (SELECT pg_catalog.format('; the last one seen in its phase was %s, %s ago', k.worker, lockstep.explain_words(now - k.updated_at))
             FROM lockstep.task k WHERE k.phase_id = task_row.phase_id AND k.worker IS NOT NULL ORDER BY k.updated_at DESC LIMIT 1)),
            what, task_row.updated_at, names);
    ELSIF living <> '{}' AND NOT EXISTS (SELECT FROM lockstep.executor b WHERE b.executor_no = ANY (living) AND NOT task_row.needs && b.unable) THEN
        RETURN NEXT lockstep.explain_row('task_nobody_able', pg_catalog.format('%s needs %s, which none of the executors of its queue (%s) has%s in its configuration',
            what, pg_catalog.array_to_string(lacking, ', '), pg_catalog.cardinality(living), CASE WHEN pg_catalog.cardinality(lacking) > 1 THEN ', all of it,' ELSE '' END),
            what, task_row.updated_at, names || (SELECT ARRAY['NEED', pg_catalog.array_to_string(lacking, ', '), 'PID', b.pid::text, 'HOST', b.host]
                                    FROM lockstep.executor b WHERE b.executor_no = living[1]));
    ELSIF open AND executor_row.lives THEN
        RETURN NEXT lockstep.explain_row('task_in_hand', what || ' is in the hands of' || owner || ', which starts it when a reader is free', what, task_row.updated_at, names);
    ELSIF open THEN
        RETURN NEXT lockstep.explain_row('task_unowned', what || CASE WHEN task_row.executor_no IS NULL THEN ' may start, and no executor has taken it'
            ELSE ' was in the hands of' || owner || ', which is gone, and no executor has taken it over' END, what, task_row.updated_at, names);
    END IF;
    IF p_whole THEN
        RETURN QUERY SELECT x.* FROM lockstep.explain_run(task_row.run_no) AS x
        WHERE x.about <> what
          AND NOT (open AND task_row.type = 'external' -- a worker needs neither a reader nor an executor
                   AND x.reason IN ('no_executor', 'executors_drain', 'executors_without_readers', 'executor_silent', 'no_readers', 'readers_busy', 'slots_kept'));
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_task(bigint, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_task(bigint, boolean) TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
