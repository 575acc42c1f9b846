-- Once: at an instant, or at a time of the zone's clock (once where the clock repeats it, at the end of the gap where
-- it skips it).
CREATE OR REPLACE FUNCTION lockstep.once_rule(p_at text) RETURNS lockstep.rule LANGUAGE plpgsql STABLE AS $$
DECLARE
    made lockstep.rule;
    local timestamp;
BEGIN
    IF p_at ~ '(Z|[+-][0-9]{2}(:?[0-9]{2})?)$' AND p_at ~ ':' THEN
        made.kind := 'instant';
        made.instant := lockstep.rule_instant(pg_catalog.jsonb_build_object('at', p_at), 'at');
        RETURN made;
    ELSIF p_at ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?$' THEN
        BEGIN
            local := p_at::timestamp;
        EXCEPTION WHEN datetime_field_overflow OR invalid_datetime_format THEN
            NULL;
        END;
    END IF;
    IF local IS NULL THEN
        PERFORM lockstep.rule_refuse(
            'value', pg_catalog.format('at: "%s" is not a time', pg_catalog.left(COALESCE(p_at, ''), 64)),
            'write an instant, 2026-01-31T06:00:00Z, or a time of the zone''s clock, 2026-01-31T06:00:00');
    END IF;
    made.kind := 'days';
    made.factor := 1;
    made.is_fixed := true;
    made.start_date := local::date;
    made.end_date := local::date;
    made.times := ARRAY[pg_catalog.date_part('epoch', local - local::date)::int];
    RETURN made;
END
$$;
