-- The queries that a test of this job has to run as the tasks' login, without effect: for each schedule ('': by hand)
-- its own, with the words of its firing, at p_now (NULL: now), after a look that has found p_look.
CREATE OR REPLACE FUNCTION lockstep.job_test_ask(p_job text, p_now timestamptz, p_look lockstep.rows_look)
RETURNS TABLE (schedule text, query text, words jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(p_job);
BEGIN
    RETURN QUERY
    SELECT COALESCE(c.schedule, ''), lockstep.job_bind('query', own.spec ->> 'query', c.words), c.words
    FROM lockstep.job_test_cycle(own, p_now, p_look) AS c WHERE own.spec ? 'query' AND c.words IS NOT NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_test_ask(text, timestamptz, lockstep.rows_look) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_test_ask(text, timestamptz, lockstep.rows_look)
    TO lockstep_operator, lockstep_producer, lockstep_monitor, lockstep_executor;
