-- The effects of the clock changes of the year after p_after on a rule: a row for each change into which a time of it
-- falls.
CREATE OR REPLACE FUNCTION lockstep.rule_changes(p_rule lockstep.rule, p_after timestamptz)
RETURNS TABLE (change timestamptz, clock text, effect text) LANGUAGE plpgsql STABLE AS $$
DECLARE
    NEW_CALENDAR CONSTANT interval := interval '3 hours'; -- rule_next
    before timestamp;
    behind timestamp;
    hit timestamp;
    once boolean; -- each of its times fires, and fires once
BEGIN
    IF p_rule.kind NOT IN ('days', 'weeks', 'months') THEN
        RETURN;
    END IF;
    change := p_after;
    LOOP
        change := lockstep.zone_change(p_rule.zone, change, p_after + interval '366 days');
        EXIT WHEN change IS NULL;
        behind := change AT TIME ZONE p_rule.zone;
        before := (change - interval '1 second') AT TIME ZONE p_rule.zone + interval '1 second';
        hit := lockstep.rule_local(p_rule, LEAST(before, behind));
        clock := pg_catalog.format('%s to %s', pg_catalog.to_char(before, 'HH24:MI'),
                                   pg_catalog.to_char(behind, 'HH24:MI'));
        CONTINUE WHEN hit IS NULL OR hit >= GREATEST(before, behind);
        once := p_rule.is_fixed AND GREATEST(before, behind) - LEAST(before, behind) < NEW_CALENDAR;
        effect := CASE WHEN behind > before AND once
                           THEN pg_catalog.format('%s does not exist: fires once, at %s', hit::time, behind::time)
                       WHEN behind > before THEN 'the times in between do not exist: nothing fires'
                       WHEN once
                           THEN pg_catalog.format('%s comes twice: fires the first time only', hit::time)
                       ELSE 'the times in between come twice: fires both times' END;
        RETURN NEXT;
    END LOOP;
END
$$;
