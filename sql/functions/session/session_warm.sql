-- What a reader's new session does before its first task: the server reads and plans what records an attempt, so that
-- the first one is not 5 ms longer than the others. Changes nothing. The token is nobody's: the completion is refused,
-- as that of a zombie.
CREATE OR REPLACE FUNCTION lockstep.session_warm() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lockstep.definitions_changed(false);
    PERFORM lockstep.complete(0, pg_catalog.gen_random_uuid());
EXCEPTION
    WHEN SQLSTATE 'LS001' THEN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.session_warm() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.session_warm() TO lockstep_task;
