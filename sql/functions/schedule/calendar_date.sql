-- A date of a calendar rule, written as the number 20260131; NULL where it is 0 or not given.
CREATE OR REPLACE FUNCTION lockstep.calendar_date(p_rule jsonb, p_field text) RETURNS date
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    number CONSTANT int := lockstep.calendar_number(p_rule, p_field, 0, 99991231);
BEGIN
    IF number IS NULL OR number = 0 THEN
        RETURN NULL;
    ELSIF number >= 19900101 THEN
        BEGIN
            RETURN pg_catalog.make_date(number / 10000, number / 100 % 100, number % 100);
        EXCEPTION WHEN datetime_field_overflow THEN
            NULL;
        END;
    END IF;
    PERFORM lockstep.rule_refuse('value', pg_catalog.format('%s: %s is not a date', p_field, number),
                                 'write it as 20260131, 19900101 at the earliest');
    RETURN NULL;
END
$$;
