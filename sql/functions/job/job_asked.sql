-- The schedule for which a token is out, with its job's row locked; NULL: the token is void. p_wait false: the function
-- does not wait for a job that another session is changing: 55P03.
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
    SELECT a.* INTO ask FROM lockstep.job_ask a WHERE a.token = p_token; -- the job may have been changed meanwhile
    RETURN ask;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_asked(uuid, boolean) FROM PUBLIC;
