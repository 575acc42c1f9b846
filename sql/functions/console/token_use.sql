-- The name and the role of a token, and its proof for the setting lockstep.token (token_actor); name is NULL if there
-- is no such token, or it was revoked or has expired. Its use is noted once a minute.
CREATE OR REPLACE FUNCTION lockstep.token_use(token text, OUT name text, OUT role text, OUT proof text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    t record;
BEGIN
    SELECT c.token_no, c.name, c.operator, c.pinger, c.last_used_at INTO t FROM lockstep.console_token c
    WHERE c.hash = sha256(convert_to(token_use.token, 'UTF8')) AND c.revoked_at IS NULL
      AND (c.expires_at IS NULL OR c.expires_at > clock_timestamp());
    name := t.name;
    proof := encode(sha256(convert_to(token_use.token, 'UTF8')), 'hex');
    role := lockstep.token_role(t.operator, t.pinger);
    IF t.last_used_at IS NULL OR t.last_used_at < clock_timestamp() - interval '1 minute' THEN
        UPDATE lockstep.console_token SET last_used_at = clock_timestamp() WHERE token_no = t.token_no;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.token_use(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.token_use(text) TO lockstep_operator, lockstep_monitor;
