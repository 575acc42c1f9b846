-- The next p_n times after p_after at which a rule fires, as people write it.
CREATE OR REPLACE FUNCTION lockstep.forecast(p_rule jsonb, p_after timestamptz, p_n int DEFAULT 5) RETURNS SETOF timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
    rule CONSTANT lockstep.rule := lockstep.rule_of(p_rule);
    at timestamptz := p_after;
BEGIN
    FOR i IN 1..LEAST(p_n, 100000) LOOP
        at := lockstep.rule_next(rule, at);
        EXIT WHEN at IS NULL;
        RETURN NEXT at;
    END LOOP;
END
$$;
