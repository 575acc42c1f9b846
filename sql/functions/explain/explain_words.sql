-- A span of time for people: its two largest units.
CREATE OR REPLACE FUNCTION lockstep.explain_words(span interval) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT CASE WHEN s < 60 THEN s || ' s'
                WHEN s < 3600 THEN s / 60 || ' m ' || s % 60 || ' s'
                WHEN s < 86400 THEN s / 3600 || ' h ' || s % 3600 / 60 || ' m'
                ELSE s / 86400 || ' d ' || s % 86400 / 3600 || ' h' END
    FROM (SELECT GREATEST(pg_catalog.floor(EXTRACT(epoch FROM span)), 0)::bigint AS s) AS t
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_words(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_words(interval)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
