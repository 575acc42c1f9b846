-- Reads a rule of times as a user writes it. A rule without a meaning is refused, each with its reason.
CREATE OR REPLACE FUNCTION lockstep.rule_of(p_rule jsonb) RETURNS lockstep.rule LANGUAGE plpgsql STABLE AS $$
DECLARE
    KINDS CONSTANT text := 'cron, interval, daily, weekly, monthly, calendar or once';
    zone CONSTANT text := COALESCE(p_rule ->> 'zone', 'UTC');
    made lockstep.rule;
BEGIN
    IF pg_catalog.jsonb_typeof(p_rule) IS DISTINCT FROM 'object' THEN
        PERFORM lockstep.rule_refuse('syntax', 'a rule is a JSON object',
                                     'write {"kind": "cron", "expr": "0 6 * * *", "zone": "Europe/Warsaw"}');
    END IF;
    PERFORM lockstep.rule_zone(zone);
    CASE p_rule ->> 'kind'
        WHEN 'cron' THEN made := lockstep.cron_rule(p_rule ->> 'expr');
        WHEN 'interval' THEN
            made.kind := 'interval';
            made.every := lockstep.rule_seconds('every', p_rule ->> 'every', 1);
            made.phase := CASE WHEN p_rule ->> 'phase' IS NULL THEN 0
                               ELSE lockstep.rule_seconds('phase', p_rule ->> 'phase', 0) % made.every END;
        WHEN 'daily', 'weekly', 'monthly' THEN made := lockstep.list_rule(p_rule);
        WHEN 'calendar' THEN made := lockstep.calendar_rule(p_rule);
        WHEN 'once' THEN made := lockstep.once_rule(p_rule ->> 'at');
        ELSE
            PERFORM lockstep.rule_refuse(
                'kind',
                pg_catalog.format('kind: %s is not known', COALESCE(pg_catalog.left(p_rule ->> 'kind', 64), 'nothing')),
                'write ' || KINDS);
    END CASE;
    made.zone := zone;
    made.not_before := lockstep.rule_instant(p_rule, 'not_before');
    made.not_after := lockstep.rule_instant(p_rule, 'not_after');
    IF made.not_after < made.not_before THEN
        PERFORM lockstep.rule_refuse('value',
                                     pg_catalog.format('not_after: %s is before not_before', p_rule ->> 'not_after'),
                                     'write a later time');
    END IF;
    RETURN made;
END
$$;
