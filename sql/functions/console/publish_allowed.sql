-- Raises an error unless the login may publish.
CREATE OR REPLACE FUNCTION lockstep.publish_allowed() RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF NOT lockstep.may_publish() THEN
        RAISE EXCEPTION '% may not publish', lockstep.actor()
            USING ERRCODE = 'insufficient_privilege', HINT = lockstep.publish_hint();
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish_allowed() FROM PUBLIC;
