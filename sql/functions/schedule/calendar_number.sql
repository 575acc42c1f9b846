-- A number of a calendar rule; NULL where it is not given.
CREATE OR REPLACE FUNCTION lockstep.calendar_number(p_rule jsonb, p_field text, p_low int, p_high int) RETURNS int
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    written CONSTANT text := p_rule ->> p_field;
BEGIN
    IF written IS NULL THEN
        RETURN NULL;
    ELSIF written !~ '^-?[0-9]{1,9}$' OR written::int NOT BETWEEN p_low AND p_high THEN
        PERFORM lockstep.rule_refuse(
            'value', pg_catalog.format('%s: %s is not in the range', p_field, pg_catalog.left(written, 64)),
            pg_catalog.format('write %s to %s', p_low, p_high));
    END IF;
    RETURN written::int;
END
$$;
