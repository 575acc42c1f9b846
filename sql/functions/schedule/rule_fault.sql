-- Why the times of a stored rule cannot be computed: its zone is one that the server does not know any more, as after
-- an update of its time zones; NULL: they can.
CREATE OR REPLACE FUNCTION lockstep.rule_fault(p_rule lockstep.rule) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_rule.zone <> 'UTC' THEN
        PERFORM pg_catalog.now() AT TIME ZONE p_rule.zone;
    END IF;
    RETURN NULL;
EXCEPTION
    WHEN invalid_parameter_value THEN
        RETURN SQLERRM;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.rule_fault(lockstep.rule) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.rule_fault(lockstep.rule)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
