-- The actor of a change, for the event log and similar rows: the login, with `, token NAME` behind it in a session of
-- the console which serves a program with a token. The body is one expression without a search path of its own, so that
-- the planner puts it into the statement: a session without a token pays nothing.
CREATE OR REPLACE FUNCTION lockstep.actor() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN COALESCE(pg_catalog.current_setting('lockstep.token', true), '') OPERATOR(pg_catalog.=) ''
                    THEN session_user::text
                ELSE lockstep.token_actor() END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.actor() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.actor() TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;
