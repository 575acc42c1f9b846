-- The first time from p_from on that a rule names on a clock that never changes; NULL: never.
CREATE OR REPLACE FUNCTION lockstep.rule_local(p_rule lockstep.rule, p_from timestamp) RETURNS timestamp
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    own CONSTANT date := p_from::date;
    past CONSTANT int := pg_catalog.ceil(pg_catalog.date_part('epoch', p_from - own));
    day date := own;
    second int;
BEGIN
    IF p_rule.closes >= 86400 THEN -- the window of the day before may be open
        day := own - 1;
    END IF;
    LOOP
        day := lockstep.rule_day(p_rule, day);
        IF day IS NULL THEN
            RETURN NULL;
        END IF;
        second := lockstep.rule_second(p_rule, CASE WHEN day > own THEN 0 ELSE past + (own - day) * 86400 END);
        IF second IS NOT NULL THEN
            RETURN day + pg_catalog.make_interval(secs => second);
        ELSIF day > own THEN -- a whole day without a time: so is every other
            RETURN NULL;
        END IF;
        day := day + 1;
    END LOOP;
END
$$;
