-- daily, weekly, monthly: the times of every day, of days of the week, of days of the month (from its end where they
-- are below 0).
CREATE OR REPLACE FUNCTION lockstep.list_rule(p_rule jsonb) RETURNS lockstep.rule LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    NAMES CONSTANT text[] := '{SUN,MON,TUE,WED,THU,FRI,SAT}';
    kind CONSTANT text := p_rule ->> 'kind';
    made lockstep.rule;
    one text;
    day int;
BEGIN
    made := lockstep.cron_rule('0 0 * * *');
    made.hours := NULL;
    made.times := lockstep.rule_times(p_rule -> 'times');
    IF kind = 'daily' THEN
        RETURN made;
    ELSIF pg_catalog.jsonb_typeof(p_rule -> 'days') IS DISTINCT FROM 'array'
          OR pg_catalog.jsonb_array_length(p_rule -> 'days') NOT BETWEEN 1 AND 62 THEN
        PERFORM lockstep.rule_refuse('value', 'days: not a list of days',
                                     CASE kind WHEN 'weekly' THEN 'write ["MON", "FRI"]'
                                          ELSE 'write [1, 15, -1]; -1 is the last day of the month' END);
    END IF;
    IF kind = 'weekly' THEN
        made.weekdays := 0;
    ELSE
        made.days := 0;
    END IF;
    FOR one IN SELECT d FROM pg_catalog.jsonb_array_elements_text(p_rule -> 'days') AS d LOOP
        day := CASE WHEN kind = 'weekly'
                        THEN COALESCE(pg_catalog.array_position(NAMES, pg_catalog.upper(one COLLATE "C")) - 1,
                                      CASE WHEN one ~ '^[0-7]$' THEN one::int % 7 END)
                    WHEN one ~ '^-?[0-9]{1,2}$' THEN one::int END;
        IF kind = 'weekly' AND day IS NOT NULL THEN
            made.weekdays := made.weekdays | (1 << day);
        ELSIF kind = 'weekly' THEN
            PERFORM lockstep.rule_refuse(
                'value', pg_catalog.format('days: "%s" is not a day of the week', pg_catalog.left(one, 64)),
                'write SUN to SAT');
        ELSIF day BETWEEN 1 AND 31 THEN
            made.days := made.days | (1::bigint << day);
        ELSIF day BETWEEN -31 AND -1 THEN
            made.days_from_end := made.days_from_end | (1::bigint << (-1 - day));
        ELSE
            PERFORM lockstep.rule_refuse(
                'value', pg_catalog.format('days: %s is not a day of the month', pg_catalog.left(one, 64)),
                'write 1 to 31, or -1 (the last day) to -31');
        END IF;
    END LOOP;
    RETURN made;
END
$$;
