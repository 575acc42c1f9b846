-- Raises the error of a wrong definition: p_field is the field, p_message the fault, p_hint the text to write instead.
CREATE OR REPLACE FUNCTION lockstep.job_refuse(p_field text, p_message text, p_hint text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%: %', p_field, p_message USING ERRCODE = 'invalid_parameter_value', HINT = p_hint;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_refuse(text, text, text) FROM PUBLIC;
