-- Is the backend that a slot names still there? A backend is pid and start; a start that we may not see (another role's
-- session) or do not know counts as the same: rather wait for a stranger than run one task too many.
-- pg_stat_activity is copied once in a transaction; the copy is thrown away first, since the backend may be younger
-- than it.
CREATE OR REPLACE FUNCTION lockstep.slot_backend_lives(p_pid int, p_start timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_catalog.pg_stat_clear_snapshot();
    RETURN EXISTS (SELECT FROM pg_catalog.pg_stat_activity a
                   WHERE a.pid = p_pid AND (a.backend_start = p_start) IS NOT FALSE);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.slot_backend_lives(int, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.slot_backend_lives(int, timestamptz)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
