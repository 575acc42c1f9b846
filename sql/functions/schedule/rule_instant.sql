-- A field of a rule that is an instant: with its offset, as 2026-01-31T06:00:00Z.
CREATE OR REPLACE FUNCTION lockstep.rule_instant(p_rule jsonb, p_field text) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
DECLARE
    written CONSTANT text := p_rule ->> p_field;
BEGIN
    IF written IS NULL THEN
        RETURN NULL;
    ELSIF written
        ~
        '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)$' THEN
        BEGIN
            RETURN written::timestamptz;
        EXCEPTION WHEN datetime_field_overflow OR invalid_datetime_format OR invalid_time_zone_displacement_value THEN
            NULL; -- 31 February
        END;
    END IF;
    PERFORM lockstep.rule_refuse('value',
                                 pg_catalog.format('%s: "%s" is not an instant', p_field, pg_catalog.left(written, 64)),
                                 'write it with its offset: 2026-01-31T06:00:00Z');
    RETURN NULL;
END
$$;
