-- A schedule in the columns of SQL Server Agent's sysschedules. Months count from the start date's month, weeks in
-- blocks of seven days from the start date, which without one is EPOCH, a Monday, so that the days of a rule are the
-- same whenever it is read; a day that does not exist is skipped; ordinals are counted; the end of a window is
-- included, and one that wraps belongs to the day on which it opens.
CREATE OR REPLACE FUNCTION lockstep.calendar_rule(p_rule jsonb) RETURNS lockstep.rule LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    EPOCH CONSTANT date := '1990-01-01';
    type CONSTANT int := lockstep.calendar_number(p_rule, 'freq_type', 0, 128);
    relative CONSTANT int := lockstep.calendar_number(p_rule, 'freq_relative_interval', 0, 16);
    unit CONSTANT int := COALESCE(NULLIF(lockstep.calendar_number(p_rule, 'freq_subday_type', 0, 8), 0), 1);
    every int;
    made lockstep.rule;
BEGIN
    IF type IS NULL OR type NOT IN (1, 4, 8, 16, 32) THEN
        PERFORM lockstep.rule_refuse(
            'value', pg_catalog.format('freq_type: %s is not a kind of calendar', COALESCE(type::text, 'nothing')),
            'write 1 once, 4 daily, 8 weekly, 16 monthly or 32 monthly relative'
            || CASE WHEN type IN (64, 128) THEN '; starts and idle times of an agent have no times' ELSE '' END);
    ELSIF unit NOT IN (1, 2, 4, 8) THEN
        PERFORM lockstep.rule_refuse('value', pg_catalog.format('freq_subday_type: %s is not a unit', unit),
                                     'write 1 once, 2 seconds, 4 minutes or 8 hours');
    END IF;
    made := lockstep.cron_rule('0 0 * * *');
    made.hours := NULL;
    made.start_date := lockstep.calendar_date(p_rule, 'active_start_date');
    IF made.start_date IS NULL AND type = 1 THEN
        PERFORM lockstep.rule_refuse('value', 'active_start_date: it is missing',
                                     'write the day on which it fires, as 20260131');
    END IF;
    made.start_date := COALESCE(made.start_date, EPOCH);
    made.end_date := lockstep.calendar_date(p_rule, 'active_end_date');
    IF made.end_date < made.start_date THEN
        PERFORM lockstep.rule_refuse('value', 'active_end_date: it is before active_start_date',
                                     'write a later date, or 0 for none');
    END IF;
    made.factor := CASE WHEN type = 4 THEN lockstep.calendar_number(p_rule, 'freq_interval', 1, 36500)
                        WHEN type = 1 THEN 1
                        ELSE lockstep.calendar_number(p_rule, 'freq_recurrence_factor', 1, 1200) END;
    IF made.factor IS NULL THEN
        PERFORM lockstep.rule_refuse(
            'value', CASE WHEN type = 4 THEN 'freq_interval' ELSE 'freq_recurrence_factor' END || ': it is missing',
            'write 1 or more');
    END IF;
    made := lockstep.calendar_days(made, p_rule, type, relative);
    made.opens := COALESCE(lockstep.calendar_time(p_rule, 'active_start_time'), 0);
    made.closes := COALESCE(NULLIF(lockstep.calendar_time(p_rule, 'active_end_time'), 0), 86399);
    IF unit = 1 OR type = 1 THEN
        made.closes := made.opens;
        made.step := 1;
        made.is_fixed := true;
        RETURN made;
    END IF;
    every := lockstep.calendar_number(p_rule, 'freq_subday_interval', CASE unit WHEN 2 THEN 10 ELSE 1 END,
                                      CASE unit WHEN 2 THEN 86400 WHEN 4 THEN 1440 ELSE 24 END);
    IF every IS NULL THEN
        PERFORM lockstep.rule_refuse('value', 'freq_subday_interval: it is missing', 'write 1 or more');
    ELSIF made.closes = made.opens THEN
        PERFORM lockstep.rule_refuse('value', 'active_end_time: it is active_start_time',
                                     'write another time, or freq_subday_type 1');
    END IF;
    made.step := every * CASE unit WHEN 2 THEN 1 WHEN 4 THEN 60 ELSE 3600 END;
    made.is_fixed := made.step > 3600;
    IF made.closes < made.opens THEN
        made.closes := made.closes + 86400;
    END IF;
    RETURN made;
END
$$;
