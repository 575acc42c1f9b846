-- The tasks that a firing publishes: the template of p_spec with these words; NULL: it has no placeholder.
CREATE OR REPLACE FUNCTION lockstep.job_tasks(p_spec jsonb, p_words jsonb) RETURNS jsonb[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_words IS NULL THEN
        RETURN ARRAY(SELECT pg_catalog.jsonb_array_elements(p_spec -> 'tasks'));
    END IF;
    RETURN ARRAY(SELECT lockstep.job_task(pg_catalog.format('tasks[%s]', t.n), t.task, p_words)
                 FROM pg_catalog.jsonb_array_elements(p_spec -> 'tasks') WITH ORDINALITY AS t (task, n) ORDER BY t.n);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_tasks(jsonb, jsonb) FROM PUBLIC;
