-- Makes a token of the console's API and returns it; it cannot be read again. It may act if operator, and publish if
-- producer, which takes a maker who may. If pinger it may report to watches and do nothing else. After so many days it
-- expires, NULL: never.
CREATE OR REPLACE FUNCTION lockstep.token_create(name text, operator boolean, days int DEFAULT NULL,
    producer boolean DEFAULT false, reason text DEFAULT NULL, pinger boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    made CONSTANT text := encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'hex');
    token CONSTANT text := encode(sha256(convert_to(made || gen_random_uuid()::text, 'UTF8')), 'hex');
BEGIN
    IF token_create.name !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' THEN
        RAISE EXCEPTION 'a token''s name has letters, digits, and . _ -, at most 63' USING ERRCODE = '22023';
    ELSIF token_create.days < 1 THEN
        RAISE EXCEPTION 'a token expires after at least a day' USING ERRCODE = '22023';
    ELSIF token_create.pinger AND (token_create.operator OR token_create.producer) THEN
        RAISE EXCEPTION 'a token of role ping reports to watches and does nothing else' USING ERRCODE = '22023',
            HINT = 'Make another token for what else the program does.';
    ELSIF token_create.producer AND NOT lockstep.may_publish() THEN
        RAISE EXCEPTION 'a token that may publish is made by one who may' USING ERRCODE = 'insufficient_privilege',
            HINT = lockstep.publish_hint();
    END IF;
    INSERT INTO lockstep.console_token (name, hash, operator, producer, pinger, expires_at)
    VALUES (token_create.name, sha256(convert_to(token, 'UTF8')), token_create.operator, token_create.producer,
            token_create.pinger, clock_timestamp() + make_interval(days => token_create.days));
    INSERT INTO lockstep.event_log (event, detail)
    VALUES ('token_created', concat_ws(': ', concat_ws(', ', 'token ' || token_create.name,
        lockstep.token_role(token_create.operator, token_create.pinger),
        CASE WHEN token_create.producer THEN 'publishes' END, 'expires after ' || token_create.days || ' days'),
        token_create.reason));
    RETURN token;
EXCEPTION WHEN unique_violation THEN
    RAISE EXCEPTION 'there is a token % already', token_create.name
        USING ERRCODE = 'LS002', HINT = 'Take another name; names of revoked tokens stay taken.';
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.token_create(text, boolean, int, boolean, text, boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.token_create(text, boolean, int, boolean, text, boolean) TO lockstep_operator;
