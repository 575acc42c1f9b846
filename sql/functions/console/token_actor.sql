-- `token NAME` for a session whose setting lockstep.token proves the token: it is the token's SHA-256, which token_use gives to whoever has the token, and which no role may read. Any
-- other setting proves nothing: the login did it.
CREATE OR REPLACE FUNCTION lockstep.token_actor() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT COALESCE((SELECT 'token ' || c.name FROM lockstep.console_token c WHERE encode(c.hash, 'hex') = current_setting('lockstep.token', true)), session_user)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.token_actor() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.token_actor() TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;
