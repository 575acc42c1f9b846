-- The rows of a job's query, with the caller's rights and search_path. One row more than a run may have shows that
-- there are too many.
CREATE OR REPLACE FUNCTION lockstep.ask_query(p_query text, p_words jsonb) RETURNS jsonb[] LANGUAGE plpgsql AS $$
DECLARE
    rows jsonb[];
BEGIN
    EXECUTE pg_catalog.format(
        E'SELECT pg_catalog.array_agg(pg_catalog.to_jsonb(q)) FROM (SELECT * FROM (%s\n) AS p LIMIT 100001) AS q',
        p_query) INTO rows USING p_words;
    RETURN COALESCE(rows, '{}');
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.ask_query(text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.ask_query(text, jsonb) TO lockstep_task;
