-- The meaning of a rule of times: a row for its words, for each warning, for each of the next p_n times, and for the
-- clock changes of a year.
CREATE OR REPLACE FUNCTION lockstep.schedule_explain(p_rule jsonb, p_n int)
RETURNS TABLE (kind text, at timestamptz, words text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    rule CONSTANT lockstep.rule := lockstep.rule_of(p_rule);
    after CONSTANT timestamptz := lockstep.rule_after('after', COALESCE(lockstep.rule_instant(p_rule, 'after'), now()));
BEGIN
    RETURN QUERY SELECT 'means', NULL::timestamptz, lockstep.rule_words(rule);
    RETURN QUERY SELECT 'warning', NULL::timestamptz, w FROM lockstep.rule_warnings(p_rule, rule) AS w;
    RETURN QUERY
    SELECT 'next', f, to_char(f AT TIME ZONE rule.zone, 'Dy YYYY-MM-DD HH24:MI:SS')
    FROM lockstep.forecast(p_rule, after, p_n) AS f;
    RETURN QUERY
    SELECT 'clock_change', c.change, c.clock || ': ' || c.effect FROM lockstep.rule_changes(rule, after) AS c;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_explain(jsonb, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.schedule_explain(jsonb, int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
