-- Revokes a token of the console's API: it is refused within ten seconds.
CREATE OR REPLACE FUNCTION lockstep.token_revoke(name text, reason text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    UPDATE lockstep.console_token SET revoked_at = clock_timestamp(), revoked_by = lockstep.actor()
    WHERE name = token_revoke.name AND revoked_at IS NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no token % that is not revoked', token_revoke.name
            USING ERRCODE = 'LS003', HINT = 'lockstep console token list';
    END IF;
    INSERT INTO lockstep.event_log (event, detail)
    VALUES ('token_revoked', concat_ws(': ', 'token ' || token_revoke.name, token_revoke.reason));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.token_revoke(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.token_revoke(text, text) TO lockstep_operator;
