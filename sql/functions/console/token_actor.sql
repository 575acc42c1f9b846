-- The login, and behind it `token NAME` for a session whose setting lockstep.token proves a token that may act, publish
-- or report: it is the token's SHA-256, which token_use gives to whoever has the token, and which no role may read. Any
-- login may set it, so the login is named whatever is set; what proves no token, or one that was revoked, has expired
-- or may only look, adds nothing.
CREATE OR REPLACE FUNCTION lockstep.token_actor() RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT concat_ws(', ', session_user,
                     (SELECT 'token ' || c.name
                      FROM lockstep.token_proven() c WHERE c.operator OR c.producer OR c.pinger))
$$;
REVOKE EXECUTE ON FUNCTION lockstep.token_actor() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.token_actor()
    TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;
