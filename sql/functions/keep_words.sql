-- What a queue keeps, in words.
CREATE OR REPLACE FUNCTION lockstep.keep_words(p_runs int, p_days int, p_failed_days int, p_set_by text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN COALESCE(p_runs, p_days, p_failed_days) IS NULL THEN 'everything'
                ELSE pg_catalog.concat_ws(', ', 'the last ' || p_runs || ' runs', 'runs of the last ' || p_days || ' days',
                                          'failed ones of the last ' || p_failed_days || ' days') END
           || CASE WHEN p_set_by IS NULL THEN '' ELSE ' (set by ' || p_set_by || ')' END
$$;
