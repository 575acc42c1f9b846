-- Whether a job has SQL of its users, which a test has to run as the tasks' login, and the look at its trigger (NULL:
-- it has none).
CREATE OR REPLACE FUNCTION lockstep.job_test_look(p_job text, OUT runs boolean, OUT look text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(p_job);
BEGIN
    look := (SELECT lockstep.job_look_text(s.rows_rule)
             FROM lockstep.schedule s WHERE s.job_id = own.job_id AND (s.rows_rule).relation IS NOT NULL);
    runs := look IS NOT NULL OR own.spec ? 'query';
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_test_look(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_test_look(text)
    TO lockstep_operator, lockstep_producer, lockstep_monitor, lockstep_executor;
