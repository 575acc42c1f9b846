-- The first day from p_from on that a rule of days, weeks or months names; NULL: none in 400 years, after which the
-- calendar repeats, so never.
CREATE OR REPLACE FUNCTION lockstep.rule_day(p_rule lockstep.rule, p_from date) RETURNS date
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    from_day date := GREATEST(p_from, p_rule.start_date);
    first date;
    past int;
    month int;
    found bigint;
    day int;
BEGIN
    IF p_rule.kind = 'days' THEN
        past := (from_day - p_rule.start_date) % p_rule.factor;
        from_day := from_day + CASE WHEN past > 0 THEN p_rule.factor - past ELSE 0 END;
        RETURN CASE WHEN from_day <= p_rule.end_date IS NOT FALSE THEN from_day END;
    ELSIF p_rule.kind = 'weeks' THEN
        FOR i IN 0..13 LOOP -- the rest of a block, and the first block of the next period
            past := from_day - p_rule.start_date;
            IF past / 7 % p_rule.factor <> 0 THEN
                from_day := p_rule.start_date + (past / 7 / p_rule.factor + 1) * p_rule.factor * 7;
            END IF;
            EXIT WHEN p_rule.weekdays & (1 << pg_catalog.date_part('dow', from_day)::int) <> 0;
            from_day := from_day + 1;
        END LOOP;
        RETURN CASE WHEN from_day <= p_rule.end_date IS NOT FALSE THEN from_day END;
    END IF;
    first := pg_catalog.date_trunc('month', from_day::timestamp)::date;
    month := pg_catalog.date_part('month', first)::int;
    day := from_day - first + 1;
    FOR i IN 0..4800 LOOP
        IF p_rule.months & (1 << month) <> 0
           AND (p_rule.factor = 1
                OR ((pg_catalog.date_part('year', first) - pg_catalog.date_part('year', p_rule.start_date))::int * 12
                    + month - pg_catalog.date_part('month', p_rule.start_date)::int) % p_rule.factor = 0) THEN
            found := lockstep.rule_month(p_rule, first) >> day;
            IF found <> 0 THEN
                from_day := first + day + lockstep.rule_lowest(found) - 1;
                RETURN CASE WHEN from_day <= p_rule.end_date IS NOT FALSE THEN from_day END;
            END IF;
        END IF;
        first := (first + interval '1 month')::date;
        EXIT WHEN first > p_rule.end_date;
        month := month % 12 + 1;
        day := 1;
    END LOOP;
    RETURN NULL;
END
$$;
