-- The days of a rule in words; NULL: every day.
CREATE OR REPLACE FUNCTION lockstep.rule_day_words(p_rule lockstep.rule) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    NAMES CONSTANT text[] := '{SUN,MON,TUE,WED,THU,FRI,SAT}';
    MONTHS CONSTANT text[] := '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}';
    NTH CONSTANT text[] := '{first,second,third,fourth,last}';
    DAYS_ALL CONSTANT bigint := ((1::bigint << 31) - 1) << 1;
    -- In the order of the week that begins on Monday: Sunday is bit 7.
    week CONSTANT int := (p_rule.weekdays & 126) | ((p_rule.weekdays & 1) << 7);
    by_day text;
    by_weekday text;
    days text;
BEGIN
    IF p_rule.kind = 'days' THEN
        days := CASE WHEN p_rule.end_date = p_rule.start_date THEN pg_catalog.format('on %s', p_rule.start_date)
                     WHEN p_rule.factor > 1 THEN pg_catalog.format('every %s days', p_rule.factor) END;
    ELSIF p_rule.kind = 'weeks' THEN
        days := pg_catalog.concat('on ', lockstep.rule_set_words(week, 1, NAMES[2:7] || NAMES[1:1]),
                                  CASE WHEN p_rule.factor > 1
                                           THEN pg_catalog.format(' of every %s. week', p_rule.factor) END);
    ELSIF p_rule.ordinal IS NOT NULL THEN
        days := pg_catalog.format('on the %s %s of the month', NTH[p_rule.ordinal],
                                  CASE p_rule.weekdays WHEN 127 THEN 'day'
                                       WHEN 62 THEN 'weekday'
                                       WHEN 65 THEN 'weekend day'
                                       ELSE lockstep.rule_set_words(week, 1, NAMES[2:7] || NAMES[1:1]) END);
    ELSE
        by_day := pg_catalog.concat_ws(
            ', ', CASE WHEN p_rule.days <> DAYS_ALL THEN 'day ' || lockstep.rule_set_words(p_rule.days, 1) END,
            'the nearest weekday to day ' || lockstep.rule_set_words(NULLIF(p_rule.workdays, 0), 1),
            CASE WHEN p_rule.last_workday THEN 'the last weekday' END,
            CASE WHEN p_rule.days_from_end & 1 <> 0 THEN 'the last day' END,
            lockstep.rule_set_words(NULLIF(p_rule.days_from_end & ~1::bigint, 0), 1) || ' before the last day');
        by_weekday := pg_catalog.concat_ws(
            ', ',
            CASE WHEN p_rule.weekdays <> 127
                     THEN lockstep.rule_set_words(NULLIF(week, 0), 1, NAMES[2:7] || NAMES[1:1]) END,
            (SELECT pg_catalog.string_agg(pg_catalog.format('the %s. %s', n / 7 + 1, NAMES[n % 7 + 1]), ', ' ORDER BY n)
             FROM pg_catalog.generate_series(0, 34) AS n WHERE p_rule.nth_weekdays & (1::bigint << n) <> 0),
            'the last ' || lockstep.rule_set_words(NULLIF(p_rule.last_weekdays, 0), 0, NAMES));
        days := 'on ' || NULLIF(pg_catalog.concat_ws(CASE WHEN p_rule.is_both THEN ' if it is ' ELSE ' and on ' END,
                                                     NULLIF(by_day, ''), NULLIF(by_weekday, '')),
                                '');
    END IF;
    RETURN NULLIF(pg_catalog.concat_ws(' ', days,
                                       CASE WHEN p_rule.months <> 8190
                                                THEN 'in ' || lockstep.rule_set_words(p_rule.months, 1, MONTHS)
                                            WHEN p_rule.kind = 'months' AND p_rule.factor > 1
                                                THEN pg_catalog.format('of every %s. month', p_rule.factor) END,
                                       CASE WHEN p_rule.start_date < p_rule.end_date THEN pg_catalog.format(
                                                'from %s to %s', p_rule.start_date, p_rule.end_date)
                                            WHEN p_rule.end_date IS NULL AND p_rule.start_date IS NOT NULL
                                                THEN pg_catalog.format('from %s on', p_rule.start_date) END),
                  '');
END
$$;
