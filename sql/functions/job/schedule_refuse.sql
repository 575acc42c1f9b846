-- Refuses a schedule of a job with the error that its making has raised, which speaks of a field: names the job, and
-- the schedule where it has a name. p_detail: the code of a rule's error, '' where it has none.
CREATE OR REPLACE FUNCTION lockstep.schedule_refuse(
    p_job text, p_spec jsonb, p_state text, p_message text, p_detail text, p_hint text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name CONSTANT text := CASE WHEN pg_catalog.jsonb_typeof(p_spec) = 'object'
                                    AND p_spec ->> 'name' ~ '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$'
                                   THEN p_spec ->> 'name' END;
    -- it is a field of the job
    message CONSTANT text := CASE WHEN p_spec ->> 'kind' = 'trigger' AND p_message ~ '^trigger' THEN p_message
                                  WHEN name IS NULL THEN pg_catalog.format('job %s: %s', p_job, p_message)
                                  ELSE pg_catalog.format(
                                      'job %s, schedule %s: %s', p_job, name,
                                      pg_catalog.regexp_replace(p_message, '^schedules\[[0-9]+\](\.|: )', '')) END;
BEGIN
    IF p_detail = '' THEN
        RAISE EXCEPTION '%', message USING ERRCODE = p_state, HINT = p_hint;
    END IF;
    RAISE EXCEPTION '%', message USING ERRCODE = p_state, DETAIL = p_detail, HINT = p_hint;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.schedule_refuse(text, jsonb, text, text, text, text) FROM PUBLIC;
