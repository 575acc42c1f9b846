-- The server and the database of this session, as "system/database". Reading the first opens a file, which was a tenth
-- of a firing; no session changes its server, so each remembers the answer.
CREATE OR REPLACE FUNCTION lockstep.server_here() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN COALESCE(NULLIF(pg_catalog.current_setting('lockstep.server_here', true), ''),
                    (SELECT pg_catalog.set_config('lockstep.server_here', c.system_identifier || '/' || d.oid, false)
                     FROM pg_catalog.pg_control_system() AS c, pg_catalog.pg_database d
                     WHERE d.datname = pg_catalog.current_database()));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.server_here() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.server_here() TO lockstep_executor, lockstep_producer, lockstep_operator;
