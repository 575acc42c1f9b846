-- Whether a receiver with these jobs (names, with * for any text) and kinds (NULL: all) is sent an incident. That the
-- monitor itself was absent is for all of them.
CREATE OR REPLACE FUNCTION lockstep.alert_matches(p_job text, p_kind text, p_jobs text[], p_kinds text[])
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT (p_kinds IS NULL OR p_kind = ANY (p_kinds))
       AND (p_kind = 'absent' OR EXISTS (
                SELECT FROM pg_catalog.unnest(p_jobs) AS j
                WHERE p_job LIKE pg_catalog.replace(pg_catalog.replace(j, '_', '!_'), '*', '%') ESCAPE '!'))
$$;
REVOKE EXECUTE ON FUNCTION lockstep.alert_matches(text, text, text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.alert_matches(text, text, text[], text[])
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
