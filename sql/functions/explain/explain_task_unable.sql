-- No executor of the task's queue has all that the task needs (a command, a connection): the reason, and the needs that
-- some of them lack. The answer is NULL if one of the executors has it all, or if none lives. explain_task calls this
-- for a task that no executor owns.
CREATE OR REPLACE FUNCTION lockstep.explain_task_unable(p_task_id bigint, p_what text, p_names text[])
RETURNS lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    blind CONSTANT boolean := lockstep.explain_blind();
    task_row record;
    living int[];   -- executors of the task's queue
    lacking text[]; -- of the needs, those that some of these executors lack
BEGIN
    SELECT k.queue_id, k.needs, k.updated_at INTO STRICT task_row FROM lockstep.task k WHERE k.task_id = p_task_id;
    living := ARRAY(SELECT x.executor_no
                    FROM (SELECT b.executor_no
                          FROM lockstep.executor b JOIN lockstep.queue q ON q.name = ANY (b.queues)
                          WHERE q.queue_id = task_row.queue_id AND b.ended_at IS NULL OFFSET 0) AS x
                    WHERE blind OR lockstep.executor_lives(x.executor_no));
    lacking := ARRAY(SELECT w.need
                     FROM pg_catalog.unnest(task_row.needs) AS w (need)
                     WHERE EXISTS (SELECT FROM lockstep.executor b
                                   WHERE b.executor_no = ANY (living) AND w.need = ANY (b.unable)));
    IF living = '{}'
       OR EXISTS (SELECT FROM lockstep.executor b
                  WHERE b.executor_no = ANY (living) AND NOT task_row.needs && b.unable) THEN
        RETURN NULL;
    END IF;
    RETURN lockstep.explain_row(
        'task_nobody_able',
        pg_catalog.format('%s needs %s, which none of the executors of its queue (%s) has%s in its configuration',
                          p_what, pg_catalog.array_to_string(lacking, ', '), pg_catalog.cardinality(living),
                          CASE WHEN pg_catalog.cardinality(lacking) > 1 THEN ', all of it,' ELSE '' END),
        p_what, task_row.updated_at,
        p_names || (SELECT ARRAY['NEED', pg_catalog.array_to_string(lacking, ', '), 'PID', b.pid::text, 'HOST', b.host]
                    FROM lockstep.executor b WHERE b.executor_no = living[1]));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_task_unable(bigint, text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_task_unable(bigint, text, text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
