-- Keeps the answer of a change that was begun with change_begin, for a request with the same key. Of a change in
-- portions the answer of the last portion is kept.
CREATE OR REPLACE FUNCTION lockstep.change_end(visitor text, key text, answer text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    UPDATE lockstep.console_change SET answer = change_end.answer
    WHERE console_change.visitor = concat_ws(' ', session_user, change_end.visitor)
      AND console_change.key = change_end.key
$$;
REVOKE EXECUTE ON FUNCTION lockstep.change_end(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.change_end(text, text, text) TO lockstep_operator, lockstep_monitor;
