-- A rule in words.
CREATE OR REPLACE FUNCTION lockstep.rule_words(p_rule lockstep.rule) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN CASE p_rule.kind
               WHEN 'interval' THEN pg_catalog.format(
                   'every %s, counted from 1970-01-01 00:00:00 UTC%s', lockstep.rule_length_words(p_rule.every),
                   ' plus ' || lockstep.rule_length_words(NULLIF(p_rule.phase, 0)))
               WHEN 'instant' THEN pg_catalog.format('once, at %s UTC', p_rule.instant AT TIME ZONE 'UTC')
               ELSE pg_catalog.concat_ws(', ',
                                         pg_catalog.concat_ws(' ', lockstep.rule_time_words(p_rule),
                                                              COALESCE(lockstep.rule_day_words(p_rule), 'every day')),
                                         'by the clock of ' || p_rule.zone) END;
END
$$;
