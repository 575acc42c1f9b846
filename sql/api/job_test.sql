-- The decision of the dispatcher's next cycle about each schedule of a job, and its reason (lockstep.job_test_cycle).
-- now: at that time instead. tasks: the tasks that would be published. The results of users' SQL are not known here:
-- for a trigger the last look of the dispatcher counts, unless look has another one, and the tasks of a query are made
-- of rows, an object that has by schedule ('': by hand) the rows of the query. `lockstep job test` runs both, as the
-- tasks' login.
CREATE OR REPLACE FUNCTION lockstep.job_test(
    job text, now timestamptz DEFAULT NULL, look lockstep.rows_look DEFAULT NULL, rows jsonb DEFAULT NULL)
RETURNS TABLE (schedule text, would_fire boolean, verdict text, reason text, scheduled_for timestamptz,
               next_scheduled_run timestamptz, tasks jsonb, pending_rows bigint, oldest_row_age interval, advice text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(job_test.job);
BEGIN
    IF jsonb_typeof(job_test.rows) <> 'object' OR job_test.rows @? 'strict $.* ? (@.type() != "array")'
       OR job_test.rows @? 'strict $.*[*] ? (@.type() != "object")' THEN
        PERFORM lockstep.job_refuse('rows', 'it is no object that has by schedule a list of rows',
                                    'write {"SCHEDULE": [{"order": 1, "sql": "SELECT 1"}]}');
    END IF;
    -- A firing whose rows make no run ends as an error, one without a row is skipped (lockstep.fire).
    RETURN QUERY
    SELECT c.schedule, c.would_fire AND q.verdict IS NULL,
           CASE WHEN c.verdict = 'fire' THEN COALESCE(q.verdict, 'fire') ELSE c.verdict END,
           CASE WHEN c.verdict = 'fire' THEN COALESCE(q.reason, c.reason) ELSE concat_ws('; ', c.reason, f.fault) END,
           c.scheduled_for, c.next_scheduled_run,
           CASE WHEN NOT own.spec ? 'query' THEN to_jsonb(lockstep.job_tasks(own.spec, c.words))
                WHEN q.verdict IS DISTINCT FROM 'error' THEN to_jsonb(lockstep.job_rows(q.rows)) END,
           c.pending_rows, c.oldest_row_age,
           COALESCE(c.advice, CASE WHEN own.spec ? 'query' AND job_test.rows IS NULL THEN
               format('the tasks are those of its query, which is not run here: lockstep job test %s', own.name) END)
    FROM lockstep.job_test_cycle(own, job_test.now, job_test.look) AS c
    CROSS JOIN LATERAL (
        SELECT CASE WHEN job_test.rows ? k.key
                        THEN ARRAY(SELECT jsonb_array_elements(job_test.rows -> k.key)) END AS rows
        FROM (SELECT COALESCE(c.schedule, '') AS key) AS k) AS g
    CROSS JOIN LATERAL (SELECT lockstep.job_rows_fault(g.rows) AS fault OFFSET 0) AS f
    CROSS JOIN LATERAL (
        SELECT g.rows, CASE WHEN f.fault IS NOT NULL THEN 'error' WHEN g.rows = '{}' THEN 'skip' END AS verdict,
               CASE WHEN f.fault IS NOT NULL THEN f.fault
                    WHEN g.rows = '{}' THEN 'its query returned no task' END AS reason) AS q;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_test(text, timestamptz, lockstep.rows_look, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_test(text, timestamptz, lockstep.rows_look, jsonb)
    TO lockstep_operator, lockstep_producer, lockstep_monitor, lockstep_executor;
