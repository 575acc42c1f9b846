-- The times of a rule's day in words.
CREATE OR REPLACE FUNCTION lockstep.rule_time_words(p_rule lockstep.rule) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    MOST CONSTANT int := 12; -- times that are listed one by one
    listed int[] := '{}';
    at int := 0;
    minutes text;
    every CONSTANT int := lockstep.rule_lowest(p_rule.minutes & ~1::bigint); -- if they are even, and have 0
BEGIN
    IF p_rule.step > 1 THEN
        RETURN pg_catalog.format('every %s from %s to %s%s', lockstep.rule_length_words(p_rule.step),
                                 lockstep.rule_clock(p_rule.opens), lockstep.rule_clock(p_rule.closes % 86400),
                                 CASE WHEN p_rule.closes >= 86400 THEN ' of the next day' ELSE '' END);
    END IF;
    LOOP
        at := lockstep.rule_second(p_rule, at);
        EXIT WHEN at IS NULL OR pg_catalog.cardinality(listed) > MOST;
        listed := listed || at;
        at := at + 1;
    END LOOP;
    IF pg_catalog.cardinality(listed) <= MOST THEN
        RETURN 'at ' || (SELECT pg_catalog.string_agg(lockstep.rule_clock(t), ', ' ORDER BY t)
                         FROM pg_catalog.unnest(listed) AS t);
    ELSIF p_rule.hours IS NULL THEN
        RETURN pg_catalog.format('at %s times a day, the first at %s', pg_catalog.cardinality(p_rule.times),
                                 lockstep.rule_clock(p_rule.times[1]));
    END IF;
    IF p_rule.seconds & p_rule.minutes = (1::bigint << 60) - 1 AND p_rule.hours = (1 << 24) - 1 THEN
        RETURN 'every second';
    END IF;
    minutes := CASE WHEN p_rule.minutes = (1::bigint << 60) - 1 THEN 'every minute'
                    ELSE 'at minute ' || lockstep.rule_set_words(p_rule.minutes, 0) END;
    -- 0, every, 2 * every ...: a geometric series of bits
    IF every BETWEEN 2 AND 30 AND 60 % every = 0
       AND p_rule.minutes = ((1::bigint << 60) - 1) / ((1::bigint << every) - 1) THEN
        minutes := pg_catalog.format('every %s minutes', every);
    END IF;
    RETURN pg_catalog.concat(CASE WHEN p_rule.seconds = (1::bigint << 60) - 1 THEN 'every second, '
                                  WHEN p_rule.seconds <> 1 THEN pg_catalog.format(
                                      'at second %s, ', lockstep.rule_set_words(p_rule.seconds, 0)) END,
                             minutes,
                             CASE WHEN p_rule.hours = (1 << 24) - 1 THEN ' of every hour'
                                  ELSE pg_catalog.format(' of hour %s', lockstep.rule_set_words(p_rule.hours, 0)) END);
END
$$;
