-- The remedy of a reason. Where another reason calls for an act of the operator (p_trouble), the remedy does not say
-- that nothing has to be done. See explain.
CREATE OR REPLACE FUNCTION lockstep.explain_helps(p_helps text, p_trouble boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_trouble
                    THEN NULLIF(pg_catalog.regexp_replace(p_helps, '^Nothing( has to be done|:)[^.]*([.] *|$)', ''), '')
                ELSE p_helps END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_helps(text, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_helps(text, boolean)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
