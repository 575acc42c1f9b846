-- The next p_n times after p_after at which a rule fires, as people write it. p_after NULL: after what the rule itself
-- says, or after now.
CREATE OR REPLACE FUNCTION lockstep.forecast(p_rule jsonb, p_after timestamptz, p_n int DEFAULT 5)
RETURNS SETOF timestamptz LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    rule CONSTANT lockstep.rule := lockstep.rule_of(p_rule);
    after CONSTANT timestamptz := lockstep.rule_after('after', COALESCE(p_after, lockstep.rule_instant(p_rule, 'after'),
                                                                        now()));
BEGIN
    RETURN QUERY SELECT unnest(lockstep.rule_walk(rule, after, 'infinity', lockstep.rule_count(p_n)));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.forecast(jsonb, timestamptz, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.forecast(jsonb, timestamptz, int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
