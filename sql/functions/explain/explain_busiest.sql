-- The tasks of a queue that have its readers, for explain: by which runs, and the one that is longest at work. Always
-- one row; the sentence is empty where no task runs.
CREATE OR REPLACE FUNCTION lockstep.explain_busiest(p_queue_id int)
RETURNS TABLE (sentence text, since timestamptz) LANGUAGE sql STABLE AS $$
    WITH w AS MATERIALIZED ( -- the tasks that run, read once
        SELECT t.task_id, t.name, t."order", t.started_at, t.executor_no, t.run_no
        FROM lockstep.phase p JOIN lockstep.task t USING (phase_id)
        WHERE p.queue_id = p_queue_id AND p.opened_at IS NOT NULL AND p.done_at IS NULL AND t.status = 'Processing'
          AND t.type <> 'external')
    SELECT pg_catalog.concat(' (' || holders.words || ')', pg_catalog.format(
               '; the longest at work is task %s of order %s on %s, for %s',
               pg_catalog.concat_ws(' ', long.task_id, '"' || long.name || '"'), long."order", x.host,
               lockstep.explain_words(pg_catalog.clock_timestamp() - long.started_at))),
           long.started_at
    FROM (SELECT * FROM w ORDER BY w.started_at LIMIT 1) AS long
    LEFT JOIN lockstep.executor x USING (executor_no)
    CROSS JOIN LATERAL (
        SELECT pg_catalog.string_agg(
                   pg_catalog.format('%s by run %s', h.count,
                                     pg_catalog.concat_ws(' ', h.run_id, '"' || h.name || '"')),
                   ', ' ORDER BY h.count DESC) AS words
        FROM (SELECT r.run_id, r.name, pg_catalog.count(*)
              FROM w JOIN lockstep.run r USING (run_no)
              GROUP BY r.run_no, r.run_id, r.name ORDER BY 3 DESC LIMIT 3) AS h) AS holders
    UNION ALL
    SELECT '', NULL WHERE NOT EXISTS (SELECT FROM w)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_busiest(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_busiest(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
