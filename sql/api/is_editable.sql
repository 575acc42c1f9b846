-- May an operator change what a task of this status is about to do? As lockstep.task_status, which a test compares.
CREATE OR REPLACE FUNCTION lockstep.is_editable(status lockstep.status) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT status NOT IN ('Processing', 'Completed')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.is_editable(lockstep.status) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.is_editable(lockstep.status)
    TO lockstep_executor, lockstep_task, lockstep_producer, lockstep_operator, lockstep_monitor;
