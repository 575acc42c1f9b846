-- The time after which times of a rule are computed. A time outside of the years 1 to 9999 is refused: the search from
-- there would never end.
CREATE OR REPLACE FUNCTION lockstep.rule_after(p_field text, p_at timestamptz) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_at IS NULL OR p_at < '0001-01-01 00:00:00Z' OR p_at >= '10000-01-01 00:00:00Z' THEN
        PERFORM lockstep.rule_refuse(
            'value', pg_catalog.format('%s: %s is not in the range', p_field, COALESCE(p_at::text, 'NULL')),
            'write a time of the years 1 to 9999: 2026-01-31T06:00:00Z');
    END IF;
    RETURN p_at;
END
$$;
