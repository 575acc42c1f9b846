-- A task that an external worker has, for explain_task: the worker, and the end of its lease.
CREATE OR REPLACE FUNCTION lockstep.explain_task_worker(p_task_id bigint, p_what text, p_holder int, p_names text[])
RETURNS lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    task_row record;
    made lockstep.explanation;
    now timestamptz := pg_catalog.clock_timestamp();
BEGIN
    SELECT k.worker, k.started_at, k.step, k.lease_until
    INTO STRICT task_row FROM lockstep.task k WHERE k.task_id = p_task_id;
    made := lockstep.explain_row(
        'task_with_worker',
        pg_catalog.format('%s is with worker %s for %s%s; its lease %s', p_what, task_row.worker,
                          lockstep.explain_words(now - task_row.started_at), ', step ' || task_row.step,
                          CASE WHEN task_row.lease_until < now
                                   THEN 'ran out ' || lockstep.explain_words(now - task_row.lease_until)
                                        || ' ago: the next worker that asks gets it'
                               ELSE 'ends in ' || lockstep.explain_words(task_row.lease_until - now) END),
        p_what, task_row.started_at, p_names);
    made.helps := CASE WHEN p_holder IS NULL THEN made.helps
                       ELSE 'Wait for its report, or for the end of the transaction that holds its row' END;
    RETURN made;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_task_worker(bigint, text, int, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_task_worker(bigint, text, int, text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
