-- The first time after p_after at which a rule fires; NULL: never.
CREATE OR REPLACE FUNCTION lockstep.next_time(p_rule jsonb, p_after timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT lockstep.rule_next(lockstep.rule_of(p_rule), p_after)
$$;
