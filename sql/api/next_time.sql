-- The first time after p_after at which a rule fires; NULL: never.
CREATE OR REPLACE FUNCTION lockstep.next_time(p_rule jsonb, p_after timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT lockstep.rule_next(lockstep.rule_of(p_rule), lockstep.rule_after('after', p_after))
$$;
REVOKE EXECUTE ON FUNCTION lockstep.next_time(jsonb, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.next_time(jsonb, timestamptz)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
