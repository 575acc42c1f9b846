-- The days of the month that begins on p_first which a rule of kind months names: bit d is day d. Pure arithmetic; the
-- rule's month set and its factor are rule_day's concern.
CREATE OR REPLACE FUNCTION lockstep.rule_month(p_rule lockstep.rule, p_first date) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE
    WEEKS CONSTANT bigint := 270549121; -- bits 0, 7, 14, 21, 28
    length CONSTANT int := (p_first + interval '1 month')::date - p_first;
    whole CONSTANT bigint := ((1::bigint << length) - 1) << 1;
    first_weekday CONSTANT int := pg_catalog.date_part('dow', p_first)::int;
    by_day bigint := p_rule.days & whole;
    by_weekday bigint := ((((p_rule.weekdays | (p_rule.weekdays << 7)) >> first_weekday) & 127) * WEEKS << 1) & whole;
    made bigint;
    day int;
    left_over int;
BEGIN
    IF p_rule.days_from_end <> 0 THEN
        FOR n IN 0..length - 1 LOOP
            IF p_rule.days_from_end & (1::bigint << n) <> 0 THEN
                by_day := by_day | (1::bigint << (length - n));
            END IF;
        END LOOP;
    END IF;
    IF p_rule.workdays <> 0 OR p_rule.last_workday THEN
        FOR n IN 1..length LOOP
            CONTINUE WHEN p_rule.workdays & (1::bigint << n) = 0 AND NOT (p_rule.last_workday AND n = length);
            day := n;
            CASE (first_weekday + n - 1) % 7
                WHEN 6 THEN day := CASE WHEN n = 1 THEN n + 2 ELSE n - 1 END; -- Saturday
                WHEN 0 THEN day := CASE WHEN n = length THEN n - 2 ELSE n + 1 END;
                ELSE NULL;
            END CASE;
            by_day := by_day | (1::bigint << day);
        END LOOP;
    END IF;
    IF p_rule.nth_weekdays <> 0 THEN
        FOR n IN 0..34 LOOP
            day := 1 + (n % 7 - first_weekday + 7) % 7 + 7 * (n / 7);
            IF p_rule.nth_weekdays & (1::bigint << n) <> 0 AND day <= length THEN
                by_weekday := by_weekday | (1::bigint << day);
            END IF;
        END LOOP;
    END IF;
    IF p_rule.last_weekdays <> 0 THEN
        by_weekday := by_weekday | (((((p_rule.last_weekdays | (p_rule.last_weekdays << 7)) >> first_weekday) & 127)
                                         * WEEKS << 1) & whole & (127::bigint << (length - 6)));
    END IF;
    made := CASE WHEN p_rule.is_both THEN by_day & by_weekday ELSE by_day | by_weekday END;
    IF p_rule.ordinal IS NULL THEN
        RETURN made;
    END IF;
    left_over := p_rule.ordinal;
    day := NULL;
    FOR n IN 1..length LOOP
        CONTINUE WHEN made & (1::bigint << n) = 0;
        day := n;
        left_over := left_over - 1;
        EXIT WHEN left_over = 0 AND p_rule.ordinal < 5;
    END LOOP;
    RETURN CASE WHEN day IS NULL OR (left_over > 0 AND p_rule.ordinal < 5) THEN 0 ELSE 1::bigint << day END;
END
$$;
