-- Adds the two day fields of a cron expression to a rule, with the forms of their own: L, L-n, LW, nW; d#k, dL.
CREATE OR REPLACE FUNCTION lockstep.cron_days(p_rule lockstep.rule, p_days text, p_weekdays text) RETURNS lockstep.rule
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    NAMES CONSTANT text[] := '{SUN,MON,TUE,WED,THU,FRI,SAT}';
    made lockstep.rule := p_rule;
    word text;
    item text;
    day int;
BEGIN
    -- Where a day is ?, the writer had Quartz in mind, whose weekdays have other numbers.
    IF p_days = '?' AND p_weekdays ~ '(^|[,-])[0-9]' THEN
        word := NAMES[((pg_catalog.substring(p_weekdays, '(?:^|[,-])([0-9])')::int + 6) % 7) + 1];
        PERFORM lockstep.rule_refuse(
            'mixed',
            pg_catalog.format('''?'' looks like Quartz, where day %s is %s',
                              pg_catalog.substring(p_weekdays, '(?:^|[,-])([0-9])'), word),
            pg_catalog.format('write the day of week by its name: %s',
                              pg_catalog.concat_ws(
                                  ' or ', word, NAMES[(pg_catalog.array_position(NAMES, word) % 7) + 1])));
    END IF;
    made.days := 0;
    made.days_from_end := 0;
    made.workdays := 0;
    made.last_workday := false;
    FOREACH item IN ARRAY CASE WHEN p_days = '?' THEN '{*}' ELSE pg_catalog.string_to_array(p_days, ',') END LOOP
        word := pg_catalog.upper(item COLLATE "C");
        IF word = 'L' THEN
            made.days_from_end := made.days_from_end | 1;
        ELSIF word = 'LW' THEN
            made.last_workday := true;
        ELSIF word ~ '^L-[0-9]{1,4}$' THEN
            day := pg_catalog.substr(word, 3)::int;
            IF day NOT BETWEEN 1 AND 30 THEN
                PERFORM lockstep.rule_refuse('value', pg_catalog.format('day of month: %s is not in the range', item),
                                             'write L-1 to L-30, or L for the last day');
            END IF;
            made.days_from_end := made.days_from_end | (1::bigint << day);
        ELSIF word ~ '^[0-9]+W$' THEN
            made.workdays := made.workdays | (1::bigint << lockstep.cron_number(
                                                  'day of month', pg_catalog.rtrim(word, 'W'), 1, 31, NULL));
        ELSE
            made.days := made.days | lockstep.cron_item('day of month', item, 1, 31, NULL);
        END IF;
    END LOOP;
    made.weekdays := 0;
    made.nth_weekdays := 0;
    made.last_weekdays := 0;
    FOREACH item IN ARRAY CASE WHEN p_weekdays = '?' THEN '{*}'
                               ELSE pg_catalog.string_to_array(p_weekdays, ',') END LOOP
        word := pg_catalog.upper(item COLLATE "C");
        IF word ~ '#' THEN
            day := lockstep.cron_number('day of week', pg_catalog.split_part(word, '#', 1), 0, 7, NAMES) % 7;
            IF word !~ '^[^#]+#[1-5]$' THEN
                PERFORM lockstep.rule_refuse('value',
                                             pg_catalog.format('day of week: %s has no number of a week', item),
                                             pg_catalog.format('write %s#1 to %s#5', NAMES[day + 1], NAMES[day + 1]));
            END IF;
            made.nth_weekdays := made.nth_weekdays | (1::bigint << (7 * (pg_catalog.right(word, 1)::int - 1) + day));
        ELSIF word = 'L' THEN
            PERFORM lockstep.rule_refuse('syntax', 'day of week: L needs a day',
                                         'write FRIL for the last Friday of the month, or SAT for Saturdays');
        ELSIF word ~ '^([0-9]+|[A-Z]{3})L$' THEN
            made.last_weekdays := made.last_weekdays | (
                1 << (lockstep.cron_number('day of week', pg_catalog.left(word, -1), 0, 7, NAMES) % 7));
        ELSE
            made.weekdays := made.weekdays | lockstep.cron_item('day of week', item, 0, 7, NAMES)::int;
        END IF;
    END LOOP;
    made.is_both := p_days ~ '^[*?]' OR p_weekdays ~ '^[*?]';
    RETURN made;
END
$$;
