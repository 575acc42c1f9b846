-- Warnings about a valid rule that may not have the intended meaning, a sentence each.
CREATE OR REPLACE FUNCTION lockstep.rule_warnings(p_written jsonb, p_rule lockstep.rule) RETURNS SETOF text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    fields CONSTANT text[] := pg_catalog.regexp_split_to_array(pg_catalog.btrim(p_written ->> 'expr'), '[ \t]+');
    DAYS_ALL CONSTANT bigint := ((1::bigint << 31) - 1) << 1;
    step int;
BEGIN
    IF lockstep.rule_anchor(p_written, p_rule) IS NOT NULL THEN
        RETURN NEXT pg_catalog.format('active_start_date is not given: it counts from %s, a Monday',
                                      lockstep.rule_anchor(p_written, p_rule));
    END IF;
    IF p_rule.kind = 'interval' AND p_rule.every % 86400 = 0 THEN
        RETURN NEXT 'the day of an interval begins at midnight UTC; write a daily rule with a zone for local midnight';
    ELSIF p_rule.kind = 'months' AND p_rule.ordinal IS NULL THEN
        IF NOT p_rule.is_both THEN
            RETURN NEXT 'day of month and day of week are both restricted: it fires on days that match either';
        END IF;
        IF p_rule.months & 8190 = 8190 AND p_rule.factor = 1 AND p_rule.days <> DAYS_ALL
           AND p_rule.days & ~(7::bigint << 29) = 0 AND p_rule.days <> 0 AND p_rule.days_from_end = 0
           AND p_rule.workdays = 0 AND NOT p_rule.last_workday THEN
            RETURN NEXT pg_catalog.format(
                'day %s is not in every month, and such a month is skipped; L is the last day',
                lockstep.rule_set_words(p_rule.days, 1));
        END IF;
    END IF;
    IF p_written ->> 'kind' = 'cron' AND pg_catalog.cardinality(fields) >= 5 THEN
        step := pg_catalog.substring(fields[pg_catalog.cardinality(fields) - 4], '^\*/([0-9]+)$')::int;
        IF 60 % step <> 0 THEN
            RETURN NEXT pg_catalog.format(
                'minute: */%s is %s of each hour, not every %s minutes; write @every %sm for that', step,
                lockstep.rule_set_words(p_rule.minutes, 0), step, step);
        END IF;
        step := pg_catalog.substring(fields[pg_catalog.cardinality(fields) - 3], '^\*/([0-9]+)$')::int;
        IF 24 % step <> 0 THEN
            RETURN NEXT pg_catalog.format('hour: */%s is %s of each day, not every %s hours; write @every %sh for that',
                                          step, lockstep.rule_set_words(p_rule.hours, 0), step, step);
        END IF;
    END IF;
    IF lockstep.rule_next(p_rule, pg_catalog.now()) IS NULL THEN
        RETURN NEXT 'it never fires from now on';
    END IF;
END
$$;
