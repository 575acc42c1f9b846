-- The first time of a day from p_from on, in seconds after that day's midnight; NULL: none. A window's may lie in the
-- next day.
CREATE OR REPLACE FUNCTION lockstep.rule_second(p_rule lockstep.rule, p_from int) RETURNS int
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    hour int := p_from / 3600;
    minute int := p_from / 60 % 60;
    second int := p_from % 60;
    made int;
BEGIN
    IF p_rule.times IS NOT NULL THEN
        FOREACH made IN ARRAY p_rule.times LOOP
            IF made >= p_from THEN
                RETURN made;
            END IF;
        END LOOP;
        RETURN NULL;
    ELSIF p_rule.opens IS NOT NULL THEN
        made := p_rule.opens + CASE WHEN p_from <= p_rule.opens THEN 0
                                    ELSE (p_from - p_rule.opens + p_rule.step - 1) / p_rule.step * p_rule.step END;
        RETURN CASE WHEN made <= p_rule.closes THEN made END;
    END IF;
    IF hour > 23 THEN
        RETURN NULL;
    END IF;
    -- As an odometer: the first field from the left that has to move sets those behind it to their first values.
    IF p_rule.hours & (1 << hour) <> 0 THEN
        IF p_rule.minutes & (1::bigint << minute) <> 0 THEN
            second := second + lockstep.rule_lowest(p_rule.seconds >> second);
            IF second IS NOT NULL THEN
                RETURN hour * 3600 + minute * 60 + second;
            END IF;
        END IF;
        minute := minute + 1 + lockstep.rule_lowest(p_rule.minutes >> (minute + 1));
        IF minute IS NOT NULL THEN
            RETURN hour * 3600 + minute * 60 + lockstep.rule_lowest(p_rule.seconds);
        END IF;
    END IF;
    hour := hour + 1 + lockstep.rule_lowest(p_rule.hours >> (hour + 1));
    RETURN hour * 3600 + lockstep.rule_lowest(p_rule.minutes) * 60 + lockstep.rule_lowest(p_rule.seconds);
END
$$;
