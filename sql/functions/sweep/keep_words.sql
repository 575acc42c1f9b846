-- The retention settings of a queue, in words.
CREATE OR REPLACE FUNCTION lockstep.keep_words(p_runs int, p_days int, p_failed_days int, p_set_by text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN COALESCE(p_runs, p_days, p_failed_days) IS NULL THEN 'everything'
                ELSE pg_catalog.concat_ws(', ', 'runs: the newest ' || p_runs, 'days: ' || p_days,
                                          'days of what did not complete: ' || p_failed_days) END
           || CASE WHEN p_set_by IS NULL THEN '' ELSE ' (set by ' || p_set_by || ')' END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.keep_words(int, int, int, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.keep_words(int, int, int, text)
    TO lockstep_executor, lockstep_operator, lockstep_monitor, lockstep_producer;
