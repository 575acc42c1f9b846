-- The values of one item of a field: *, n, a-b, and each of them with /step. Weekdays end at 7, which is another name
-- of Sunday.
CREATE OR REPLACE FUNCTION lockstep.cron_item(p_field text, p_item text, p_low int, p_high int, p_names text[])
RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    weekday CONSTANT boolean := p_high = 7;
    size CONSTANT int := CASE WHEN p_high = 7 THEN 7 ELSE p_high - p_low + 1 END;
    item CONSTANT text[] := pg_catalog.string_to_array(p_item, '/');
    ends CONSTANT text[] := pg_catalog.string_to_array(item[1], '-');
    low int;
    high int;
    step int := 1;
    made bigint := 0;
BEGIN
    IF pg_catalog.cardinality(item) > 2 OR pg_catalog.cardinality(ends) > 2 OR '' = ANY (item || ends)
       OR item = '{}' THEN
        PERFORM lockstep.rule_refuse('syntax', pg_catalog.format('%s: "%s" is not a value', p_field, p_item),
                                     'write it as 1, 1-5, */2 or 1-5/2, lists with commas and without spaces');
    END IF;
    IF pg_catalog.cardinality(item) = 2 THEN
        IF item[2] !~ '^[0-9]+$' OR item[2] ~ '^0+$' THEN
            PERFORM lockstep.rule_refuse('step',
                                         pg_catalog.format('%s: step %s is not a number above 0', p_field, item[2]),
                                         pg_catalog.format('write 1 to %s', size));
        ELSIF item[2] !~ '^[0-9]{1,4}$' OR item[2]::int > size THEN
            PERFORM lockstep.rule_refuse(
                'step', pg_catalog.format('%s: step %s is larger than the field', p_field, item[2]),
                CASE p_field WHEN 'second' THEN pg_catalog.format('for long intervals use @every %ss', item[2])
                             WHEN 'minute' THEN pg_catalog.format('for long intervals use @every %sm', item[2])
                             WHEN 'hour' THEN pg_catalog.format('for long intervals use @every %sh', item[2])
                             ELSE pg_catalog.format('write 1 to %s', size) END);
        END IF;
        step := item[2]::int;
    END IF;
    IF item[1] = '*' THEN
        low := p_low;
        high := p_low + size - 1;
    ELSE
        low := lockstep.cron_number(p_field, ends[1], p_low, p_high, p_names);
        high := CASE WHEN pg_catalog.cardinality(ends) = 2
                         THEN lockstep.cron_number(p_field, ends[2], p_low, p_high, p_names)
                     WHEN pg_catalog.cardinality(item) = 2 THEN p_low + size - 1
                     ELSE low END;
        IF weekday AND low = 7 THEN -- Sunday; 7-7 is that day alone
            low := 0;
            high := high % 7;
        ELSIF weekday AND high = 0 AND low > 0 THEN
            high := 7;
        END IF;
        IF low > high THEN
            PERFORM lockstep.rule_refuse(
                'reversed', pg_catalog.format('%s: %s runs backwards', p_field, item[1]),
                CASE WHEN step > 1 -- two ranges would not keep the step
                         THEN (SELECT 'write ' || pg_catalog.string_agg(
                                          CASE WHEN item[1] ~ '[A-Za-z]' THEN p_names[v] ELSE (v + p_low - 1)::text END,
                                          ',' ORDER BY v)
                               FROM (SELECT (n - p_low) % size + 1 AS v
                                     FROM pg_catalog.generate_series(low, high + size, step) AS n) w)
                     ELSE pg_catalog.format(
                         'write %s,%s',
                         CASE WHEN low = p_low + size - 1 THEN ends[1]
                              ELSE ends[1] || '-' || COALESCE(p_names[size], (p_low + size - 1)::text) END,
                         CASE WHEN high = p_low THEN ends[2]
                              ELSE COALESCE(p_names[1], p_low::text) || '-' || ends[2] END) END);
        END IF;
    END IF;
    FOR value IN low..high BY step LOOP
        made := made | (1::bigint << CASE WHEN weekday THEN value % 7 ELSE value END);
    END LOOP;
    RETURN made;
END
$$;
