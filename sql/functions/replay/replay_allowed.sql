-- Raises an error unless the login may replay: the caller supplies the messages, so an operator must be a producer,
-- too; an executor is both.
CREATE OR REPLACE FUNCTION lockstep.replay_allowed() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_catalog.pg_has_role(lockstep.acting_role(), 'lockstep_executor', 'USAGE')
       AND NOT lockstep.may_publish() THEN
        RAISE EXCEPTION '% may not replay: that publishes messages again', lockstep.actor()
            USING ERRCODE = 'insufficient_privilege', HINT = lockstep.publish_hint();
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.replay_allowed() FROM PUBLIC;
