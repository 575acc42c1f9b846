-- The login that asks may not see what these sessions do: see explain.
CREATE OR REPLACE FUNCTION lockstep.explain_hidden(p_about text, p_what text) RETURNS lockstep.explanation LANGUAGE sql STABLE AS $$
    SELECT lockstep.explain_row('sessions_hidden', pg_catalog.format('login %I may not see what %s does: its state and its query are hidden', session_user, p_what),
                                p_about, NULL, ARRAY['LOGIN', pg_catalog.quote_ident(session_user)])
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_hidden(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_hidden(text, text) TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
