-- A cron expression as a rule: five fields, or six with seconds first, or a macro. docs/reference has the grammar.
CREATE OR REPLACE FUNCTION lockstep.cron_rule(p_text text) RETURNS lockstep.rule LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    MONTHS CONSTANT text[] := '{JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC}';
    text_of CONSTANT text := pg_catalog.btrim(p_text, E' \t');
    macro text;
    fields text[];
    made lockstep.rule;
BEGIN
    IF text_of IS NULL OR text_of = '' OR pg_catalog.length(text_of) > 1000 THEN
        PERFORM lockstep.rule_refuse(
            'fields', 'a cron expression has 5 fields, or 6 with seconds first, and at most 1000 characters',
            'write minute, hour, day of month, month and day of week: 0 6 * * MON-FRI');
    ELSIF text_of ~ '^@every[ \t]+' THEN
        fields := pg_catalog.string_to_array(pg_catalog.regexp_replace(text_of, '^@every[ \t]+', ''), '/');
        IF pg_catalog.cardinality(fields) > 2 THEN
            PERFORM lockstep.rule_refuse('syntax', '@every takes one phase', 'write @every 1h/15m');
        END IF;
        made.kind := 'interval';
        made.every := lockstep.rule_seconds('@every', fields[1], 1);
        made.phase := CASE WHEN fields[2] IS NULL THEN 0
                           ELSE lockstep.rule_seconds('phase', fields[2], 0) % made.every END;
        RETURN made;
    ELSIF text_of ~ '^@' THEN
        macro := CASE text_of WHEN '@hourly' THEN '0 * * * *' WHEN '@daily' THEN '0 0 * * *'
                      WHEN '@midnight' THEN '0 0 * * *' WHEN '@weekly' THEN '0 0 * * 0'
                      WHEN '@monthly' THEN '0 0 1 * *' WHEN '@yearly' THEN '0 0 1 1 *'
                      WHEN '@annually' THEN '0 0 1 1 *' END;
        IF text_of = '@reboot' THEN
            PERFORM lockstep.rule_refuse('macro', '@reboot has no meaning for several executors',
                                         'write a time, or run the job by hand: lockstep job run NAME');
        ELSIF macro IS NULL THEN
            PERFORM lockstep.rule_refuse('macro', pg_catalog.format('%s is not known', pg_catalog.left(text_of, 64)),
                'write @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually or @every 90s, in lower case');
        END IF;
    ELSIF text_of ~* '^(CRON_)?TZ=' THEN
        PERFORM lockstep.rule_refuse('zone', 'a cron expression names no zone', 'give the schedule a zone');
    END IF;
    fields := pg_catalog.regexp_split_to_array(COALESCE(macro, text_of), '[ \t]+');
    IF pg_catalog.cardinality(fields) NOT IN (5, 6) THEN
        PERFORM lockstep.rule_refuse(
            'fields',
            pg_catalog.format('a cron expression has 5 fields, or 6 with seconds first; this one has %s',
                              pg_catalog.cardinality(fields)),
            CASE WHEN pg_catalog.cardinality(fields) = 7
                     THEN 'leave out the year; bound the schedule by not_before and not_after'
                 ELSE 'write minute, hour, day of month, month and day of week: 0 6 * * MON-FRI' END);
    ELSIF pg_catalog.cardinality(fields) = 5 THEN
        fields := '{0}' || fields;
    END IF;
    made.kind := 'months';
    made.factor := 1;
    made.seconds := lockstep.cron_field('second', fields[1], 0, 59);
    made.minutes := lockstep.cron_field('minute', fields[2], 0, 59);
    made.hours := lockstep.cron_field('hour', fields[3], 0, 23);
    made.months := lockstep.cron_field('month', fields[5], 1, 12, MONTHS);
    made.is_fixed := NOT (fields[1] ~ '^\*' OR fields[2] ~ '^\*' OR fields[3] ~ '^\*');
    made := lockstep.cron_days(made, fields[4], fields[6]);
    IF lockstep.rule_day(made, date '2000-01-01') IS NULL THEN
        PERFORM lockstep.rule_refuse('never',
                                     CASE WHEN made.is_both AND fields[6] IN ('*', '?') THEN pg_catalog.format(
                                              'day of month: %s never occurs in month %s', fields[4], fields[5])
                                          ELSE pg_catalog.format(
                                              'day of month %s, month %s and day of week %s never occur together',
                                              fields[4], fields[5], fields[6]) END,
                                     'write a day that the month has; L is the last one');
    END IF;
    RETURN made;
END
$$;
