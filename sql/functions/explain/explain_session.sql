-- A session in words: its owner and activity, and its query. hidden: the caller may not see the activity and the query.
-- No row: there is no such session. Where queries_shown(false) was called in this transaction, a sentence takes
-- the place of the query, because a query may quote the parameters of a task.
CREATE OR REPLACE FUNCTION lockstep.explain_session(p_pid int)
RETURNS TABLE (is text, query text, since timestamptz, hidden boolean) LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.concat_ws(
               ', ', a.usename, NULLIF(a.application_name, ''), 'from ' || pg_catalog.host(a.client_addr),
               a.state || ' for ' || lockstep.explain_words(pg_catalog.clock_timestamp() - a.state_change)),
           CASE WHEN a.state IS NULL THEN NULL
                WHEN lockstep.queries_hidden() THEN 'the query is hidden: it may quote parameters'
                ELSE pg_catalog."left"(a.query, 200) END,
           COALESCE(a.xact_start, a.state_change), a.state IS NULL
    FROM pg_catalog.pg_stat_activity a WHERE a.pid = p_pid
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_session(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_session(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
