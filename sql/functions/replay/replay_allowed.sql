-- Refuses whoever may not replay: the messages come from the caller, so an operator must be a producer, too; an executor is both.
CREATE OR REPLACE FUNCTION lockstep.replay_allowed() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_catalog.pg_has_role(session_user, 'lockstep_executor', 'USAGE') AND NOT pg_catalog.pg_has_role(session_user, 'lockstep_producer', 'USAGE') THEN
        RAISE EXCEPTION '% may not replay: that publishes messages again', session_user
            USING ERRCODE = 'insufficient_privilege', HINT = pg_catalog.format('GRANT lockstep_producer TO %I;', session_user);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_allowed() FROM PUBLIC;
