-- A time of a calendar rule, written as the number 63000 for 06:30:00, in seconds after midnight; NULL where it is not
-- given.
CREATE OR REPLACE FUNCTION lockstep.calendar_time(p_rule jsonb, p_field text) RETURNS int
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    number CONSTANT int := lockstep.calendar_number(p_rule, p_field, 0, 235959);
BEGIN
    IF number / 100 % 100 > 59 OR number % 100 > 59 THEN
        PERFORM lockstep.rule_refuse('value', pg_catalog.format('%s: %s is not a time', p_field, number),
                                     'write it as HHMMSS, 63000 for 06:30:00');
    END IF;
    RETURN number / 10000 * 3600 + number / 100 % 100 * 60 + number % 100;
END
$$;
