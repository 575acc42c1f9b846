-- The reasons for which a task does not run or does not end, for explain. p_whole: with the reasons that hold up its
-- phase, its run and its queue.
CREATE OR REPLACE FUNCTION lockstep.explain_task(p_task_id bigint, p_whole boolean DEFAULT true)
RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    task_row record;
    executor_row record;
    unable lockstep.explanation; -- no executor of its queue has what it needs
    what text;
    owner text := '';
    names text[];
    blind CONSTANT boolean := lockstep.explain_blind();
    holder int;
    open boolean;
    now timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT k.task_id, k.needs, k.phase_id, k.run_no, k.queue_id, k.status, k."order", k.name, k.executor_no, k.error,
           k.scheduled_for, k.attempt_num, k.updated_at, k.type, k.payload
    INTO STRICT task_row FROM lockstep.task k WHERE k.task_id = p_task_id;
    SELECT x.executor_id, x.host, x.pid, blind OR lockstep.executor_lives(x.executor_no) AS lives
    INTO executor_row FROM lockstep.executor x WHERE x.executor_no = task_row.executor_no;
    SELECT p.opened_at IS NOT NULL INTO STRICT open FROM lockstep.phase p WHERE p.phase_id = task_row.phase_id;
    what := pg_catalog.concat_ws(' ', 'task', task_row.task_id, '"' || task_row.name || '"', 'of order',
                                 task_row."order");
    names := ARRAY['TASK', task_row.task_id::text, 'QUEUE',
                   (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = task_row.queue_id), 'EXECUTOR',
                   executor_row.executor_id::text, 'HOST', executor_row.host, 'PID', executor_row.pid::text];
    IF task_row.needs IS NOT NULL AND task_row.executor_no IS NULL THEN
        unable := lockstep.explain_task_unable(p_task_id, what, names);
    END IF;
    IF executor_row.executor_id IS NOT NULL THEN
        owner := pg_catalog.format(' executor %s on %s (pid %s)', executor_row.executor_id, executor_row.host,
                                   executor_row.pid);
    END IF;
    IF lockstep.is_finished(task_row.status) THEN
        RETURN QUERY SELECT * FROM lockstep.explain_task_finished(p_task_id, what, names);
        RETURN;
    END IF;
    -- A session that has the row of the task locked also keeps it from being cancelled.
    holder := CASE WHEN NOT blind THEN (SELECT h.pid FROM pg_catalog.unnest(lockstep.task_holders(p_task_id)) AS h (pid)
                                        WHERE NOT lockstep.explain_passing(h.pid) LIMIT 1) END;
    RETURN QUERY
    SELECT x.*
    FROM lockstep.explain_session(holder) AS s
    CROSS JOIN LATERAL lockstep.explain_row(
        'row_held',
        pg_catalog.format('backend %s holds the row of %s in an open transaction (%s)%s', holder, what, s.is,
                          ': ' || NULLIF(s.query, '')),
        what, s.since, names || ARRAY['PID', holder::text]) AS x;
    IF task_row.status = 'Processing' AND executor_row.lives THEN
        RETURN QUERY SELECT * FROM lockstep.explain_task_running(p_task_id, what, owner, holder, names);
        RETURN;
    END IF;
    IF task_row.type = 'external' AND task_row.status = 'Processing' THEN
        RETURN QUERY SELECT * FROM lockstep.explain_task_worker(p_task_id, what, holder, names);
        RETURN;
    ELSIF task_row.status = 'Paused' THEN
        RETURN NEXT lockstep.explain_row('task_paused', what || ' is held by an operator', what, task_row.updated_at,
                                         names);
    ELSIF task_row.scheduled_for > now AND task_row.executor_no IS NULL THEN
        RETURN NEXT lockstep.explain_row(
            CASE WHEN task_row.status = 'Error' THEN 'task_retry_later' ELSE 'task_not_before' END,
            CASE WHEN task_row.status = 'Error' THEN pg_catalog.format(
                     'attempt %s of %s failed (%s); the next one is due in %s, at %s', task_row.attempt_num, what,
                     task_row.error, lockstep.explain_words(task_row.scheduled_for - now),
                     pg_catalog.date_trunc('second', task_row.scheduled_for))
                 ELSE pg_catalog.format('%s may start in %s, at %s', what,
                                        lockstep.explain_words(task_row.scheduled_for - now),
                                        pg_catalog.date_trunc('second', task_row.scheduled_for)) END,
            what, task_row.updated_at, names);
    ELSIF open AND task_row.type = 'external' THEN
        RETURN NEXT lockstep.explain_row(
            'task_offered',
            pg_catalog.format(
                '%s waits for a worker%s to ask for it%s', what, ' of kind ' || (task_row.payload::json ->> 'kind'),
                (SELECT pg_catalog.format('; the last one seen in its phase was %s, %s ago', k.worker,
                                          lockstep.explain_words(now - k.updated_at))
                 FROM lockstep.task k
                 WHERE k.phase_id = task_row.phase_id AND k.worker IS NOT NULL ORDER BY k.updated_at DESC LIMIT 1)),
            what, task_row.updated_at, names);
    ELSIF unable.reason IS NOT NULL THEN
        RETURN NEXT unable;
    ELSIF open AND executor_row.lives THEN
        RETURN NEXT lockstep.explain_row(
            'task_in_hand', what || ' is in the hands of' || owner || ', which starts it when a reader is free', what,
            task_row.updated_at, names);
    ELSIF open AND (SELECT r.paused_by IS NULL FROM lockstep.run r WHERE r.run_no = task_row.run_no) THEN
        RETURN NEXT lockstep.explain_row(
            'task_unowned',
            what
            || CASE WHEN task_row.executor_no IS NULL THEN ' may start, and no executor has taken it'
                    ELSE ' was in the hands of' || owner || ', which is gone, and no executor has taken it over' END,
            what, task_row.updated_at, names);
    END IF;
    IF p_whole THEN
        RETURN QUERY
        SELECT x.*
        FROM lockstep.explain_run(task_row.run_no) AS x
        WHERE x.about <> what
          AND NOT (open AND task_row.type = 'external' -- a worker needs neither a reader nor an executor
                   AND x.reason IN ('no_executor', 'executors_drain', 'executors_held', 'executors_without_readers',
                                    'executor_silent', 'no_readers', 'readers_busy', 'readers_spent', 'executors_busy',
                                    'executors_limited', 'slots_kept'));
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_task(bigint, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_task(bigint, boolean)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
