-- A task that is finished, for explain_task: it is done, is not to be run, or can be tried again. A task that was
-- cancelled because another one before it failed is tried again with that one, by run retry: task retry would run it
-- out of order.
CREATE OR REPLACE FUNCTION lockstep.explain_task_finished(p_task_id bigint, p_what text, p_names text[])
RETURNS SETOF lockstep.explanation LANGUAGE plpgsql AS $$
DECLARE
    task_row record;
    run_row record;
    reason text;
BEGIN
    SELECT k.run_no, k."order", k.status, k.skipped, k.cancelled_by, k.error, k.updated_at
    INTO STRICT task_row FROM lockstep.task k WHERE k.task_id = p_task_id;
    SELECT r.run_id, r.error, r.swept, r.cancelled_at IS NOT NULL AND r.ended_at IS NULL AS is_stopping
    INTO STRICT run_row FROM lockstep.run r WHERE r.run_no = task_row.run_no;
    reason := CASE WHEN task_row.status = 'Completed' OR task_row.skipped IS NOT NULL OR run_row.swept
                        OR run_row.is_stopping THEN 'task_finished'
                   WHEN task_row.status = 'Cancelled' AND task_row.cancelled_by IS NULL
                        AND lockstep.cancelled_by_failure(task_row.run_no, task_row."order")
                       THEN 'task_stopped_by_failure'
                   WHEN EXISTS (SELECT FROM lockstep.phase p
                                WHERE p.run_no = task_row.run_no AND p."order" > task_row."order"
                                  AND p.opened_at IS NOT NULL AND p.done_at IS NULL) THEN 'task_finished'
                   ELSE 'task_retryable' END;
    RETURN NEXT lockstep.explain_row(
        reason,
        CASE reason WHEN 'task_stopped_by_failure'
                        THEN pg_catalog.concat_ws(': ', p_what || ' is Cancelled because a task before it failed',
                                                  run_row.error)
                    ELSE pg_catalog.concat_ws(': ', p_what || ' is ' || task_row.status, task_row.error) END,
        p_what, task_row.updated_at, p_names || ARRAY['RUN', run_row.run_id::text]);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_task_finished(bigint, text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_task_finished(bigint, text, text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
