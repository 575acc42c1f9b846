-- Seconds after midnight as a clock shows them: 06:30, or 06:30:15.
CREATE OR REPLACE FUNCTION lockstep.rule_clock(p_seconds int) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    RETURN pg_catalog.to_char(time '00:00' + pg_catalog.make_interval(secs => p_seconds),
                              CASE WHEN p_seconds % 60 = 0 THEN 'HH24:MI' ELSE 'HH24:MI:SS' END);
END
$$;
