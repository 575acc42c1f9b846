-- The first time after p_after at which a rule fires; NULL: never. It walks stretches of time in which the zone's clock
-- runs evenly: inside one, local time is UTC and an offset, and rule_local does the rest. mark is the local time up to
-- which all times are known; the moves of mark where two stretches meet handle all clock changes:
--   the clock jumps ahead, 02:00 to 03:00   a fixed time in between fires once, at 03:00; a repeating one does not
--                                           exist
--   the clock is set back, 02:00 to 01:00   a fixed time in between was found in the first pass, mark stays; a
--                                           repeating one is found again
-- A jump of three hours and more is a new calendar: the times that it skips are skipped, those that it repeats are
-- repeated. No time is after the year 9999.
CREATE OR REPLACE FUNCTION lockstep.rule_next(p_rule lockstep.rule, p_after timestamptz) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
DECLARE
    NEW_CALENDAR CONSTANT interval := interval '3 hours';
    MARGIN CONSTANT interval := interval '36 hours'; -- no two zones are farther apart
    after CONSTANT timestamptz := GREATEST(p_after, p_rule.not_before - interval '1 microsecond');
    last CONSTANT timestamptz := LEAST(p_rule.not_after, after + interval '400 years', '9999-12-31 23:59:59.999999Z');
    begun timestamptz := after - interval '30 hours'; -- of the stretch
    shift interval;      -- its local time - UTC
    mark timestamp;
    match timestamp;
    fires timestamptz;
    change timestamptz;
    before timestamp;    -- local time where two stretches meet, in the first
    behind timestamp;    -- and in the second
BEGIN
    IF p_rule.kind = 'interval' THEN
        fires := pg_catalog.to_timestamp((pg_catalog.floor((EXTRACT(epoch FROM after) - p_rule.phase) / p_rule.every)
                                          + 1) * p_rule.every
                                         + p_rule.phase);
        RETURN CASE WHEN fires <= last THEN fires END;
    ELSIF p_rule.kind = 'instant' THEN
        RETURN CASE WHEN p_rule.instant > after AND p_rule.instant <= last THEN p_rule.instant END;
    ELSIF p_rule.kind = 'never' THEN
        RETURN NULL;
    END IF;
    -- The result of the first pass, when p_after lies in the second.
    LOOP
        shift := (begun AT TIME ZONE p_rule.zone) - (begun AT TIME ZONE 'UTC');
        change := lockstep.zone_change(p_rule.zone, begun, after);
        EXIT WHEN change IS NULL;
        before := (change AT TIME ZONE 'UTC') + shift;
        behind := change AT TIME ZONE p_rule.zone;
        mark := CASE WHEN p_rule.is_fixed AND behind < before AND before - behind < NEW_CALENDAR
                         THEN GREATEST(mark, before) END;
        begun := change;
    END LOOP;
    begun := after;
    mark := GREATEST(mark, pg_catalog.date_trunc('second', after AT TIME ZONE p_rule.zone) + interval '1 second');
    LOOP
        match := lockstep.rule_local(p_rule, mark);
        fires := (match - shift) AT TIME ZONE 'UTC';
        IF fires - begun <= MARGIN + MARGIN THEN
            change := lockstep.zone_change(p_rule.zone, begun, fires);
        ELSE -- nothing matches until then, but the clock may be set back now, to before mark
            change := lockstep.zone_change(p_rule.zone, begun, begun + MARGIN);
            IF change IS NULL AND fires <= last + MARGIN THEN -- a stretch that is near to the match
                begun := fires - MARGIN;
                shift := (begun AT TIME ZONE p_rule.zone) - (begun AT TIME ZONE 'UTC');
                fires := (match - shift) AT TIME ZONE 'UTC';
                change := lockstep.zone_change(p_rule.zone, begun, fires);
                mark := match;
            END IF;
        END IF;
        IF change IS NULL THEN
            RETURN CASE WHEN fires <= last THEN fires END;
        END IF;
        before := (change AT TIME ZONE 'UTC') + shift;
        behind := change AT TIME ZONE p_rule.zone;
        IF behind > before THEN
            IF match < behind AND p_rule.is_fixed AND behind - before < NEW_CALENDAR THEN
                RETURN CASE WHEN change <= last THEN change END;
            END IF;
            mark := GREATEST(match, behind);
        ELSIF p_rule.is_fixed AND before - behind < NEW_CALENDAR THEN
            mark := GREATEST(mark, before);
        ELSE
            mark := behind;
        END IF;
        begun := change;
        shift := behind - (change AT TIME ZONE 'UTC');
    END LOOP;
END
$$;
