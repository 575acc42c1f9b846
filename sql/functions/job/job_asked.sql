-- The schedule for which a token is out, its job's row locked; NULL: the token is worth nothing any more.
CREATE OR REPLACE FUNCTION lockstep.job_asked(p_token uuid) RETURNS lockstep.job_ask LANGUAGE plpgsql AS $$
DECLARE
    ask lockstep.job_ask;
BEGIN
    SELECT a.* INTO ask FROM lockstep.job_ask a WHERE a.token = p_token;
    PERFORM FROM lockstep.job j WHERE j.job_id = ask.job_id FOR NO KEY UPDATE;
    SELECT a.* INTO ask FROM lockstep.job_ask a WHERE a.token = p_token; -- somebody may have changed the job meanwhile
    RETURN ask;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_asked(uuid) FROM PUBLIC;
