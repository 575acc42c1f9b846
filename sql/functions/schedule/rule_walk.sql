-- The first p_n times of a rule after p_after and before p_until: the times that rule_next finds one after the other,
-- at a quarter of its cost where times are close to each other. rule_next searches for changes of the zone's clock from
-- 30 hours before each time on. Here one search covers two days, and eight days after a search that found times: as
-- long as the clock runs evenly, the next time is rule_local's. All days of a rule without a window have the same
-- times: after the first whole day only days are searched for, and its times are copied.
CREATE OR REPLACE FUNCTION lockstep.rule_walk(
    p_rule lockstep.rule, p_after timestamptz, p_until timestamptz, p_n int)
RETURNS timestamptz[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
    last CONSTANT timestamptz := LEAST(p_rule.not_after, '9999-12-31 23:59:59.999999Z');
    step CONSTANT interval := pg_catalog.make_interval(secs => p_rule.every); -- of an interval
    times timestamptz[] := '{}';
    before timestamptz;
    at timestamptz := p_after;
    span interval := '2 days';
    even_until timestamptz; -- up to then the clock runs evenly
    shift interval;         -- its local time - UTC
    match timestamp;
    second int;
    first int;              -- index in times at which the newest whole day begins; NULL: no day began here
    of_day int[];           -- the times of a day, in seconds after midnight
BEGIN
    WHILE pg_catalog.cardinality(times) < p_n LOOP
        before := at;
        at := lockstep.rule_next(p_rule, before);
        EXIT WHEN (at < p_until) IS NOT TRUE;
        times := times || at;
        IF p_rule.kind = 'interval' THEN
            WHILE at + step <= last AND at + step < p_until AND pg_catalog.cardinality(times) < p_n LOOP
                at := at + step;
                times := times || at;
            END LOOP;
            EXIT;
        END IF;
        CONTINUE WHEN p_rule.kind = 'instant' OR at - before > interval '2 days'; -- one, or far from each other
        even_until := LEAST(at + span, p_until);
        even_until := COALESCE(lockstep.zone_change(p_rule.zone, at - interval '30 hours', even_until), even_until);
        span := '2 days';
        shift := (at AT TIME ZONE p_rule.zone) - (at AT TIME ZONE 'UTC');
        match := at AT TIME ZONE p_rule.zone;
        first := NULL;
        WHILE pg_catalog.cardinality(times) < p_n LOOP
            second := NULL;
            IF p_rule.opens IS NULL THEN -- the same day has another one; a window may be that of the day before
                second := lockstep.rule_second(p_rule, pg_catalog.date_part('epoch', match - match::date)::int + 1);
            END IF;
            IF second IS NULL AND first IS NOT NULL AND of_day IS NULL THEN
                of_day := ARRAY(SELECT pg_catalog.date_part('epoch', (t AT TIME ZONE 'UTC') + shift - match::date)
                                FROM pg_catalog.unnest(times[first:]) AS t);
            END IF;
            match := CASE WHEN second IS NOT NULL THEN match::date + pg_catalog.make_interval(secs => second)
                          ELSE lockstep.rule_local(p_rule, match + interval '1 second') END;
            EXIT WHEN ((match - shift) AT TIME ZONE 'UTC' < even_until) IS NOT TRUE;
            at := (match - shift) AT TIME ZONE 'UTC';
            IF at > last THEN
                RETURN times;
            ELSIF second IS NULL AND of_day IS NOT NULL THEN
                times := times || ARRAY(
                    SELECT t.at
                    FROM (SELECT (match::date + pg_catalog.make_interval(secs => o) - shift) AT TIME ZONE 'UTC' AS at
                          FROM pg_catalog.unnest(of_day) AS o) AS t
                    WHERE t.at < even_until AND t.at <= last ORDER BY t.at LIMIT p_n - pg_catalog.cardinality(times));
                at := times[pg_catalog.cardinality(times)];
                match := (at AT TIME ZONE 'UTC') + shift;
            ELSE
                IF second IS NULL AND p_rule.opens IS NULL THEN
                    first := pg_catalog.cardinality(times) + 1;
                END IF;
                times := times || at;
            END IF;
            span := '8 days';
        END LOOP;
    END LOOP;
    RETURN times;
END
$$;
