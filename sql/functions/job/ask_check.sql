-- Refuses a statement of a job that would be refused when it runs: planned, not run, with the caller's rights and
-- search_path. p_makes_tasks: its rows become tasks, so its columns must be fields of a task.
CREATE OR REPLACE FUNCTION lockstep.ask_check(p_statement text, p_words jsonb, p_makes_tasks boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    line record;
    names text[];
    types pg_catalog.regtype[];
BEGIN
    -- a cursor: of one statement, and no more
    FOR line IN EXECUTE 'EXPLAIN ' OPERATOR(pg_catalog.||) p_statement USING p_words LOOP
        EXIT;
    END LOOP;
    IF NOT p_makes_tasks THEN
        RETURN;
    END IF;
    BEGIN
        -- LIMIT 0 executes nothing of the query; a record without a row still has the names of its columns.
        EXECUTE pg_catalog.format('%s LIMIT 0', p_statement) INTO line USING p_words;
    EXCEPTION
        WHEN read_only_sql_transaction THEN -- it locks rows, which this session may not do even with LIMIT 0
            RETURN;
    END;
    names := ARRAY(SELECT pg_catalog.json_object_keys(pg_catalog.to_json(line)));
    EXECUTE pg_catalog.format(
        'SELECT ARRAY[%s]::pg_catalog.regtype[] FROM (SELECT) AS one LEFT JOIN (%s LIMIT 0) AS q%s ON true',
        (SELECT pg_catalog.string_agg(pg_catalog.format('pg_catalog.pg_typeof(c%s)', n), ', ')
         FROM pg_catalog.generate_subscripts(names, 1) AS n),
        p_statement,
        ' (' OPERATOR(pg_catalog.||) (
            SELECT pg_catalog.string_agg(pg_catalog.format('c%s', n), ', ')
            FROM pg_catalog.generate_subscripts(names, 1) AS n) OPERATOR(pg_catalog.||) ')') INTO types USING p_words;
    PERFORM lockstep.ask_columns(names, types);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.ask_check(text, jsonb, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.ask_check(text, jsonb, boolean) TO lockstep_task;
