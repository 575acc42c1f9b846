-- Puts a session back to how it was opened, between two tasks, as DISCARD ALL does, but in a transaction and without
-- the prepared statements and plans of the executor's own. Every name is qualified: the search_path is one of the
-- things that may be wrong. No SET clause and no SECURITY DEFINER: they would put back what is reset here.
CREATE OR REPLACE FUNCTION lockstep.session_clean() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    own pg_catalog.text;
BEGIN
    RESET SESSION AUTHORIZATION;
    RESET ROLE;
    RESET ALL;
    UNLISTEN *;
    DISCARD TEMP;
    DISCARD SEQUENCES;
    EXECUTE 'CLOSE ALL';
    PERFORM pg_catalog.pg_advisory_unlock_all();
    IF EXISTS (SELECT FROM pg_catalog.pg_prepared_statement() AS p WHERE p.from_sql) THEN
        FOR own IN SELECT p.name FROM pg_catalog.pg_prepared_statement() AS p WHERE p.from_sql LOOP
            EXECUTE pg_catalog.format('DEALLOCATE %I', own);
        END LOOP;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.session_clean() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.session_clean() TO lockstep_task;
