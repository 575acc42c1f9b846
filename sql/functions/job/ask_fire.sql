-- A firing with SQL of users, with the caller's rights and search_path: the job's mark, then its query, then the firing
-- itself, in one transaction.
CREATE OR REPLACE FUNCTION lockstep.ask_fire(p_token uuid, p_mark text, p_query text, p_words jsonb) RETURNS uuid
LANGUAGE plpgsql AS $$
DECLARE
    marked bigint;
    rows jsonb[];
BEGIN
    IF p_mark IS NOT NULL THEN
        EXECUTE p_mark USING p_words;
        GET DIAGNOSTICS marked = ROW_COUNT;
    END IF;
    IF p_query IS NOT NULL THEN
        rows := lockstep.ask_query(p_query, p_words);
    END IF;
    RETURN lockstep.fire(p_token, marked, rows);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.ask_fire(uuid, text, text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.ask_fire(uuid, text, text, jsonb) TO lockstep_task;
