-- One task of a template, or one step of it, with the words replaced in the fields that may have them. Never in sql: a
-- value from outside is bound as a parameter. A task without a placeholder stays as it is.
CREATE OR REPLACE FUNCTION lockstep.job_task(p_field text, p_task jsonb, p_words jsonb) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
    TYPED CONSTANT text[] := '{params,args,input}';
    TEXTS CONSTANT text[] := '{body,headers,key,name}';
    word text;
BEGIN
    IF pg_catalog.jsonb_typeof(p_task) IS DISTINCT FROM 'object' THEN
        PERFORM lockstep.job_refuse(p_field, 'it is no JSON object', 'write {"order": 100, "sql": "SELECT 1"}');
    ELSIF pg_catalog.strpos(p_task::text, '${') = 0 THEN
        RETURN p_task;
    END IF;
    word := pg_catalog.substring((p_task -> 'sql')::text, '\$\{[A-Za-z_][A-Za-z0-9_]*\}'); -- a misspelt one, too
    IF word IS NOT NULL THEN
        PERFORM lockstep.job_refuse(
            p_field || '.sql', pg_catalog.format('%s stands in a statement, where nothing is replaced', word),
            pg_catalog.format('write $1 there, and "params": ["%s"]; a statement that needs this text itself takes it '
                              'as a parameter, too: "params": ["$%1$s"]', word));
    END IF;
    RETURN (SELECT pg_catalog.jsonb_object_agg(
                       e.key,
                       CASE WHEN e.key = ANY (TYPED || TEXTS)
                                THEN lockstep.job_value(p_field || '.' || e.key, e.value, p_words, e.key = ANY (TYPED))
                            WHEN e.key = 'steps' AND pg_catalog.jsonb_typeof(e.value) = 'array' THEN (
                                SELECT pg_catalog.jsonb_agg(lockstep.job_task(
                                                                pg_catalog.format('%s.steps[%s]', p_field, s.n), s.step,
                                                                p_words) ORDER BY s.n)
                                FROM pg_catalog.jsonb_array_elements(e.value) WITH ORDINALITY AS s (step, n))
                            ELSE e.value END)
            FROM pg_catalog.jsonb_each(p_task) AS e);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_task(text, jsonb, jsonb) FROM PUBLIC;
