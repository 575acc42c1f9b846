-- Sets whether explanations quote the queries of sessions, from here to the end of the transaction: only for visitors
-- of the console who may see payloads. The answer is true in either case, so that a statement can make it the condition
-- of its next question.
CREATE OR REPLACE FUNCTION lockstep.queries_shown(p_payloads boolean) RETURNS boolean LANGUAGE sql AS $$
    SELECT pg_catalog.set_config('lockstep.queries', CASE WHEN p_payloads THEN 'shown' ELSE 'hidden' END, true)
               IS NOT NULL
$$;
REVOKE EXECUTE ON FUNCTION lockstep.queries_shown(boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.queries_shown(boolean) TO lockstep_operator, lockstep_monitor;
