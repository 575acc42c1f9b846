-- May a task of this status be started, now or when it is due? As lockstep.task_status, which a test compares. Not
-- STRICT: see is_finished.
CREATE OR REPLACE FUNCTION lockstep.is_processable(status lockstep.status) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT status IN ('Pending', 'Error')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.is_processable(lockstep.status) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.is_processable(lockstep.status)
    TO lockstep_executor, lockstep_task, lockstep_producer, lockstep_operator, lockstep_monitor;
