-- The role of a token, as people say it.
CREATE OR REPLACE FUNCTION lockstep.token_role(operator boolean, pinger boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN token_role.operator THEN 'operator' WHEN token_role.pinger THEN 'ping' ELSE 'monitor' END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.token_role(boolean, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.token_role(boolean, boolean) TO lockstep_operator, lockstep_monitor;
