-- The reason for which the current role sees no query and no state of other roles' sessions, and the statement that
-- changes that. No row: it sees them. The current role is that of the session now: behind SET ROLE it is a group, not
-- the login.
CREATE OR REPLACE FUNCTION lockstep.sessions_hidden(OUT reason text, OUT hint text) RETURNS SETOF record
LANGUAGE sql STABLE AS $$
    SELECT e.sentence, e.helps
    FROM lockstep.explain_row(
        'sessions_hidden',
        pg_catalog.format(
            'role %I may not see what the sessions of other roles do: their states and queries are hidden',
            current_user),
        'server', NULL, ARRAY['LOGIN', pg_catalog.quote_ident(current_user)]) AS e
    WHERE NOT pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sessions_hidden() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sessions_hidden()
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
