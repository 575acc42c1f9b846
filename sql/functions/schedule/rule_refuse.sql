-- Refuses a rule of times: p_code is one word for programs, p_hint what to write instead.
CREATE OR REPLACE FUNCTION lockstep.rule_refuse(p_code text, p_message text, p_hint text) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RAISE EXCEPTION '%', p_message USING ERRCODE = '22023', DETAIL = p_code, HINT = p_hint;
END
$$;
