-- Refuses what somebody says of a job: p_field is where, p_message what is wrong, p_hint what to write instead.
CREATE OR REPLACE FUNCTION lockstep.job_refuse(p_field text, p_message text, p_hint text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%: %', p_field, p_message USING ERRCODE = 'invalid_parameter_value', HINT = p_hint;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_refuse(text, text, text) FROM PUBLIC;
