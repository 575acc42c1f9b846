-- The days of a calendar rule: the meaning of freq_interval and freq_relative_interval for each type.
CREATE OR REPLACE FUNCTION lockstep.calendar_days(p_rule lockstep.rule, p_written jsonb, p_type int, p_relative int)
RETURNS lockstep.rule LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    made lockstep.rule := p_rule;
    interval_of CONSTANT int := CASE p_type WHEN 8 THEN lockstep.calendar_number(p_written, 'freq_interval', 1, 127)
                                     WHEN 16 THEN lockstep.calendar_number(p_written, 'freq_interval', 1, 31)
                                     WHEN 32 THEN lockstep.calendar_number(p_written, 'freq_interval', 1, 10) END;
BEGIN
    IF p_type IN (8, 16, 32) AND interval_of IS NULL THEN
        PERFORM lockstep.rule_refuse('value', 'freq_interval: it is missing',
                                     CASE p_type
                                          WHEN 8 THEN 'write the sum of 1 Sunday, 2 Monday, 4 Tuesday, to 64 Saturday'
                                          WHEN 16 THEN 'write the day of the month'
                                          ELSE 'write 1 Sunday to 7 Saturday, 8 day, 9 weekday or 10 weekend day' END);
    END IF;
    CASE p_type
        WHEN 1 THEN
            made.kind := 'days';
            made.end_date := made.start_date;
        WHEN 4 THEN made.kind := 'days';
        WHEN 8 THEN
            made.kind := 'weeks';
            made.weekdays := interval_of; -- bit 0 is Sunday there, too
        WHEN 16 THEN made.days := 1::bigint << interval_of;
        ELSE
            IF p_relative IS NULL OR p_relative NOT IN (1, 2, 4, 8, 16) THEN
                PERFORM lockstep.rule_refuse('value',
                                             pg_catalog.format('freq_relative_interval: %s is not one of the week''s',
                                                               COALESCE(p_relative::text, 'nothing')),
                                             'write 1 first, 2 second, 4 third, 8 fourth or 16 last');
            END IF;
            made.weekdays := CASE interval_of WHEN 8 THEN 127 WHEN 9 THEN 62 WHEN 10 THEN 65
                                  ELSE 1 << (interval_of - 1) END;
            made.ordinal := CASE p_relative WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 4 THEN 3 WHEN 8 THEN 4 ELSE 5 END;
    END CASE;
    RETURN made;
END
$$;
