-- When the clock of p_zone changes for the first time after p_from, up to p_to; NULL: it does not. PostgreSQL shows
-- offsets, not changes: they are looked at every twelve hours, and between two that differ the change is found by
-- halves. p_to is at most days behind p_from.
CREATE OR REPLACE FUNCTION lockstep.zone_change(p_zone text, p_from timestamptz, p_to timestamptz) RETURNS timestamptz
LANGUAGE plpgsql STABLE STRICT AS $$
DECLARE
    offset_from CONSTANT interval := (p_from AT TIME ZONE p_zone) - (p_from AT TIME ZONE 'UTC');
    low timestamptz := p_from;
    high timestamptz := p_from;
    middle timestamptz;
BEGIN
    IF p_zone = 'UTC' THEN
        RETURN NULL;
    END IF;
    LOOP
        IF high >= p_to THEN
            RETURN NULL;
        END IF;
        low := high;
        high := LEAST(high + interval '12 hours', p_to);
        EXIT WHEN (high AT TIME ZONE p_zone) - (high AT TIME ZONE 'UTC') <> offset_from;
    END LOOP;
    low := pg_catalog.date_trunc('second', low);
    WHILE high - low > interval '1 second' LOOP
        middle := pg_catalog.date_trunc('second', low + (high - low) / 2);
        IF (middle AT TIME ZONE p_zone) - (middle AT TIME ZONE 'UTC') = offset_from THEN
            low := middle;
        ELSE
            high := middle;
        END IF;
    END LOOP;
    RETURN pg_catalog.date_trunc('second', high);
END
$$;
