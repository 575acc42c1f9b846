-- The valid token that the setting lockstep.token proves, in a statement with the owner's rights (token_actor): the
-- setting is its hash. No row: the setting is not there, or the token was revoked or has expired.
CREATE OR REPLACE FUNCTION lockstep.token_proven() RETURNS SETOF lockstep.console_token LANGUAGE sql STABLE AS $$
    SELECT c.*
    FROM lockstep.console_token c
    WHERE pg_catalog.encode(c.hash, 'hex') = pg_catalog.current_setting('lockstep.token', true)
      AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > pg_catalog.clock_timestamp())
$$;
REVOKE EXECUTE ON FUNCTION lockstep.token_proven() FROM PUBLIC;
