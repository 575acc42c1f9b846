-- Whether a session is one of Lockstep's own whose transaction has just begun, or is over already: it releases its rows
-- by itself, and explain does not name it. A session that this login may not see is not taken for one.
CREATE OR REPLACE FUNCTION lockstep.explain_passing(p_pid int) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT COALESCE((SELECT a.application_name LIKE 'lockstep/%'
                            AND COALESCE(a.xact_start > pg_catalog.clock_timestamp() - interval '2 s', true)
                     FROM pg_catalog.pg_stat_activity a WHERE a.pid = p_pid), false)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_passing(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_passing(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
