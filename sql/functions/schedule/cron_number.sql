-- The value of a number or a name in a field of a cron expression; refuses what is neither, or out of range. p_names:
-- from p_low on.
CREATE OR REPLACE FUNCTION lockstep.cron_number(p_field text, p_text text, p_low int, p_high int, p_names text[])
RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    value int := pg_catalog.array_position(p_names, pg_catalog.upper(p_text COLLATE "C"));
BEGIN
    IF value IS NOT NULL THEN
        RETURN value - 1 + p_low;
    ELSIF p_text ~ '^[0-9]{1,4}$' AND p_text::int BETWEEN p_low AND p_high THEN
        RETURN p_text::int;
    ELSIF p_text ~ '^[0-9]+$' THEN
        PERFORM lockstep.rule_refuse('value', pg_catalog.format('%s: %s is not in the range', p_field, p_text),
                                     pg_catalog.format('write %s to %s', p_low, p_high));
    ELSIF pg_catalog.upper(p_text COLLATE "C") ~ '^[A-Z]{4,}$'
          AND pg_catalog.left(pg_catalog.upper(p_text COLLATE "C"), 3) = ANY (p_names) THEN
        PERFORM lockstep.rule_refuse(
            'name', pg_catalog.format('%s: %s is not a name of three letters', p_field, p_text),
            pg_catalog.format('write %s', pg_catalog.left(pg_catalog.upper(p_text COLLATE "C"), 3)));
    ELSIF p_text ~ '^[Hh](\(|$)' OR p_text ~ '~' THEN
        PERFORM lockstep.rule_refuse('syntax', pg_catalog.format('%s: %s does not name a time', p_field, p_text),
                                     'write a number, and give the schedule a jitter');
    ELSIF p_text ~ '\$' THEN
        PERFORM lockstep.rule_refuse('syntax', pg_catalog.format('%s: $ is not known', p_field),
                                     'write L for the last day of the month');
    END IF;
    PERFORM lockstep.rule_refuse('syntax', pg_catalog.format('%s: "%s" is not a value', p_field, p_text),
                                 pg_catalog.format(
                                     'write *, %s to %s%s, a range, a list or a step', p_low, p_high,
                                     ', ' || p_names[1] || ' to ' || p_names[pg_catalog.cardinality(p_names)]));
    RETURN NULL;
END
$$;
