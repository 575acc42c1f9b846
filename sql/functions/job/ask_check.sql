-- Refuses a statement of a job that would be refused when it runs: planned, not run, with the caller's rights and
-- search_path.
CREATE OR REPLACE FUNCTION lockstep.ask_check(p_statement text, p_words jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    line record;
BEGIN
    -- a cursor: of one statement, and no more
    FOR line IN EXECUTE 'EXPLAIN ' OPERATOR(pg_catalog.||) p_statement USING p_words LOOP
        EXIT;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.ask_check(text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.ask_check(text, jsonb) TO lockstep_task;
