-- Has a task of this status failed for good? What a cancelled one means for its run, its reader decides. Not STRICT:
-- see is_finished.
CREATE OR REPLACE FUNCTION lockstep.is_failed(status lockstep.status) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT status IN ('Failed', 'Terminated', 'PartiallyCompleted')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.is_failed(lockstep.status) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.is_failed(lockstep.status)
    TO lockstep_executor, lockstep_task, lockstep_producer, lockstep_operator, lockstep_monitor;
