-- Does this incarnation hold its liveness lock? Asked with a shared try at transaction level, so that two askers do not
-- see each other and nothing is left over.
CREATE OR REPLACE FUNCTION lockstep.executor_lives(p_executor_no int) RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT NOT pg_catalog.pg_try_advisory_xact_lock_shared(lockstep.lock_class('executor'), p_executor_no)
$$;
GRANT EXECUTE ON FUNCTION lockstep.executor_lives
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
