-- The SQL that a test of this job has to run as the tasks' login, without effect, before lockstep.job_test can decide
-- its next cycle. NULL: none.
CREATE OR REPLACE FUNCTION lockstep.job_test_ask(p_job text, OUT look text, OUT query text, OUT words jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(p_job);
    now CONSTANT timestamptz := clock_timestamp();
BEGIN
    words := lockstep.job_words(own, 'test', 'test', gen_random_uuid(), now, now, NULL);
    query := lockstep.job_bind('query', own.spec ->> 'query', words);
    SELECT lockstep.job_look_text(s.rows_rule) INTO look
    FROM lockstep.schedule s WHERE s.job_id = own.job_id AND (s.rows_rule).relation IS NOT NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_test_ask(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_test_ask(text)
    TO lockstep_operator, lockstep_producer, lockstep_monitor, lockstep_executor;
