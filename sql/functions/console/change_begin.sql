-- A change that the API makes once, even if its request comes twice: whether this key of this visitor is new, and, if
-- not, the answer that the first request got. In the transaction of the change: a second request waits here until the
-- first has ended. Keys are kept for a day.
CREATE OR REPLACE FUNCTION lockstep.change_begin(
    visitor text, key text, request text, OUT is_new boolean, OUT is_same boolean, OUT answer text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    own CONSTANT text := concat_ws(' ', session_user, change_begin.visitor);
    asked CONSTANT bytea := sha256(convert_to(change_begin.request, 'UTF8'));
BEGIN
    DELETE FROM lockstep.console_change c
    WHERE c.change_no IN (
              SELECT b.change_no
              FROM lockstep.console_change b
              WHERE b.made_at < clock_timestamp() - interval '1 day'
              ORDER BY b.made_at LIMIT 100 FOR UPDATE SKIP LOCKED);
    INSERT INTO lockstep.console_change (visitor, key, digest)
    VALUES (own, change_begin.key, asked) ON CONFLICT DO NOTHING;
    is_new := FOUND;
    SELECT c.digest = asked, c.answer INTO is_same, answer
    FROM lockstep.console_change c WHERE c.visitor = own AND c.key = change_begin.key;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.change_begin(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.change_begin(text, text, text) TO lockstep_operator, lockstep_monitor;
