-- The schedule for which a token is out, its job's row locked; NULL: the token is worth nothing any more. p_wait false:
-- a job that somebody is changing is not waited for: 55P03.
CREATE OR REPLACE FUNCTION lockstep.job_asked(p_token uuid, p_wait boolean) RETURNS lockstep.job_ask
LANGUAGE plpgsql AS $$
DECLARE
    ask lockstep.job_ask;
BEGIN
    SELECT a.* INTO ask FROM lockstep.job_ask a WHERE a.token = p_token;
    IF p_wait THEN
        PERFORM FROM lockstep.job j WHERE j.job_id = ask.job_id FOR NO KEY UPDATE;
    ELSE
        PERFORM FROM lockstep.job j WHERE j.job_id = ask.job_id FOR NO KEY UPDATE NOWAIT;
    END IF;
    SELECT a.* INTO ask FROM lockstep.job_ask a WHERE a.token = p_token; -- somebody may have changed the job meanwhile
    RETURN ask;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_asked(uuid, boolean) FROM PUBLIC;
