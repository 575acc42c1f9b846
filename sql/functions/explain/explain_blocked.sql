-- The locks that a running task waits for in its session, for explain: a row for each transaction that must end, which
-- is a root of the chains of locks. No row: the task waits for no lock.
CREATE OR REPLACE FUNCTION lockstep.explain_blocked(p_what text, p_backend int, p_names text[])
RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    wanted CONSTANT text := lockstep.explain_lock(p_backend);
    b record;
    s record;
    other record;
    chain text;
BEGIN
    IF wanted IS NULL THEN
        RETURN;
    END IF;
    FOR b IN
        SELECT * FROM lockstep.explain_blockers(p_backend) AS x ORDER BY pg_catalog.cardinality(x.path) LIMIT 3
    LOOP
        chain := CASE WHEN pg_catalog.cardinality(b.path) > CASE WHEN b.pid IS NULL THEN 0 ELSE 1 END
                          THEN pg_catalog.format(
                                   '; the chain: backend %s waits for %s', p_backend,
                                   pg_catalog.array_to_string(
                                       b.path::text[] || CASE WHEN b.pid IS NULL THEN 'the prepared transaction' END,
                                       ', which waits for ')) END;
        IF b.pid IS NULL THEN
            RETURN NEXT lockstep.explain_row(
                'task_blocked_prepared',
                pg_catalog.format(
                    '%s waits for %s that prepared transaction "%s" holds (%s, prepared %s ago in database %s)%s',
                    p_what, wanted, b.gid, b.owner, lockstep.explain_words(pg_catalog.clock_timestamp() - b.prepared),
                    b.database, chain),
                p_what, b.prepared,
                p_names || ARRAY['DATABASE', b.database::text, 'GID', pg_catalog.replace(b.gid, '''', '''''')]);
            CONTINUE;
        END IF;
        SELECT * INTO s FROM lockstep.explain_session(b.pid);
        CONTINUE WHEN NOT FOUND; -- it has just ended
        SELECT t.task_id,
               pg_catalog.format('task %s of run %s in ', pg_catalog.concat_ws(' ', t.task_id, '"' || t.name || '"'),
                                 r.run_id) AS is
        INTO other
        FROM lockstep.slot l
        JOIN lockstep.phase p ON p.queue_id = l.queue_id AND p.opened_at IS NOT NULL AND p.done_at IS NULL
        JOIN lockstep.task t ON t.phase_id = p.phase_id AND t.status = 'Processing' AND t.backend_pid = l.pid
             AND t.executor_no = l.executor_no
        JOIN lockstep.run r ON r.run_no = t.run_no
        WHERE l.pid = b.pid AND lockstep.explain_backend(l.executor_no, l.pid) IS NOT NULL LIMIT 1;
        RETURN NEXT lockstep.explain_row(
            CASE WHEN other.task_id IS NULL THEN 'task_blocked' ELSE 'task_blocked_task' END,
            pg_catalog.format('%s waits for %s that %sbackend %s holds (%s)%s%s', p_what, wanted, other.is, b.pid, s.is,
                              ': ' || s.query, chain),
            p_what, s.since, p_names || ARRAY['PID', b.pid::text, 'OTHER', other.task_id::text]);
        IF s.hidden THEN
            RETURN QUERY SELECT * FROM lockstep.explain_hidden();
        END IF;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_blocked(text, int, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_blocked(text, int, text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
