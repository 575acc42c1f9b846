-- Does a task of this status count as done for its phase? As lockstep.task_status, which a test compares. Not STRICT:
-- the planner inlines it, so a query that asks it of each task is as fast as one with the list; of NULL it is NULL all
-- the same.
CREATE OR REPLACE FUNCTION lockstep.is_finished(status lockstep.status) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT status IN ('Completed', 'Failed', 'Cancelled', 'Terminated', 'PartiallyCompleted')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.is_finished(lockstep.status) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.is_finished(lockstep.status)
    TO lockstep_executor, lockstep_task, lockstep_producer, lockstep_operator, lockstep_monitor;
