-- Prepares a reader's new session before its first task: the server reads and plans the statements that record an
-- attempt, so that the first one does not take 5 ms longer than the others. It changes nothing. The token belongs to no
-- task: the completion is refused, as that of a zombie.
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
