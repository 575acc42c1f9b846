-- A task that an executor runs, for explain_task: since when, in which session, and which locks that session waits for.
-- Or the session is lost and the executor cannot open another one. p_what: the task in words; p_owner: its executor in
-- words; p_holder: the session that holds the task's row.
CREATE OR REPLACE FUNCTION lockstep.explain_task_running(
    p_task_id bigint, p_what text, p_owner text, p_holder int, p_names text[])
RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    blind CONSTANT boolean := lockstep.explain_blind();
    task_row record;
    executor_row record;
    backend int;
    hidden boolean;
    made lockstep.explanation;
    now timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT k.executor_no, k.started_at, k.cancelled_by, k.step, k.backend_pid
    INTO STRICT task_row FROM lockstep.task k WHERE k.task_id = p_task_id;
    SELECT x.trouble_kind, x.trouble, x.trouble_at
    INTO executor_row FROM lockstep.executor x WHERE x.executor_no = task_row.executor_no;
    backend := CASE WHEN NOT blind THEN lockstep.explain_backend(task_row.executor_no, task_row.backend_pid) END;
    IF backend IS NULL AND task_row.backend_pid IS NOT NULL AND executor_row.trouble_kind IN ('login', 'readers')
       AND NOT blind THEN
        RETURN NEXT lockstep.explain_row(
            'task_lost_session',
            pg_catalog.format('%s has lost its session (backend %s), and what has become of its attempt is found '
                              'out when%s can open another one, which it cannot for %s: %s',
                              p_what, task_row.backend_pid, p_owner,
                              lockstep.explain_words(now - executor_row.trouble_at), executor_row.trouble),
            p_what, executor_row.trouble_at, p_names);
        RETURN;
    END IF;
    made := lockstep.explain_row(
        CASE WHEN task_row.cancelled_by IS NULL THEN 'task_running' ELSE 'task_stopping' END,
        pg_catalog.format('%s%s runs for %s%s on%s%s', p_what, ', to be stopped for ' || task_row.cancelled_by || ',',
                          lockstep.explain_words(now - task_row.started_at),
                          ', with step "' || task_row.step || '"', p_owner, ', backend ' || backend),
        p_what, task_row.started_at, p_names);
    made.helps := CASE WHEN p_holder IS NULL THEN made.helps
                       ELSE 'Nothing before the transaction that holds its row has ended' END;
    RETURN NEXT made;
    RETURN QUERY SELECT * FROM lockstep.explain_blocked(p_what, backend, p_names);
    SELECT s.hidden INTO hidden FROM lockstep.explain_session(backend) AS s;
    IF hidden THEN
        RETURN QUERY SELECT * FROM lockstep.explain_hidden();
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_task_running(bigint, text, text, int, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_task_running(bigint, text, text, int, text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
