-- Seconds as rules write them: 1h30m.
CREATE OR REPLACE FUNCTION lockstep.rule_length_words(p_seconds bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    RETURN COALESCE(NULLIF(pg_catalog.concat(NULLIF(p_seconds / 86400, 0) || 'd',
                                             NULLIF(p_seconds / 3600 % 24, 0) || 'h',
                                             NULLIF(p_seconds / 60 % 60, 0) || 'm', NULLIF(p_seconds % 60, 0) || 's'),
                           ''),
                    '0s');
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.rule_length_words(bigint)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
