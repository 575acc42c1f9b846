-- The state of a run as users see it: a run that is sent and has not begun is Published, not Publishing.
CREATE OR REPLACE FUNCTION lockstep.run_state(p_status text, p_published_at timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_status = 'Publishing' AND p_published_at IS NOT NULL THEN 'Published' ELSE p_status END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_state(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_state(text, timestamptz)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
