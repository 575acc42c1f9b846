-- Refuses a placeholder in a field of a task, or of one of its steps, in which nothing is replaced. Of a statement
-- job_task says so itself.
CREATE OR REPLACE FUNCTION lockstep.job_fixed(p_field text, p_task jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    REPLACED CONSTANT text[] := '{params,args,input,body,headers,key,name}';
    one record;
BEGIN
    SELECT e.key, pg_catalog.substring(e.value::text, '\$\{[A-Za-z0-9_]*\}?') AS word INTO one
    FROM pg_catalog.jsonb_each(p_task) AS e
    WHERE e.key <> ALL (REPLACED || '{sql,steps}') AND pg_catalog.strpos(e.value::text, '${') > 0
    ORDER BY e.key LIMIT 1;
    IF FOUND THEN
        PERFORM lockstep.job_refuse(
            p_field || '.' || one.key, pg_catalog.format('nothing is replaced in this field, and it has %s', one.word),
            'write the value itself; placeholders stand in ' || pg_catalog.array_to_string(REPLACED, ', '));
    END IF;
    PERFORM lockstep.job_fixed(pg_catalog.format('%s.steps[%s]', p_field, s.n), s.step)
    FROM pg_catalog.jsonb_array_elements(CASE WHEN pg_catalog.jsonb_typeof(p_task -> 'steps') = 'array'
                                                  THEN p_task -> 'steps'
                                              ELSE '[]' END) WITH ORDINALITY AS s (step, n);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_fixed(text, jsonb) FROM PUBLIC;
