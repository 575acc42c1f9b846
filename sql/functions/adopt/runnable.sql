-- Is this task for an executor that lacks p_lacks (see action_leave), now or when it is due? Not an external one:
-- workers ask for those. Not one that may run only after a failure, as long as its phase is closed. The planner inlines
-- it: tests/sql/adopt.sql.
CREATE OR REPLACE FUNCTION lockstep.runnable(p_task lockstep.task, p_is_open boolean, p_lacks text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT lockstep.is_ownable(p_task.status) AND p_task.type <> 'external'
           AND (p_task.needs IS NULL OR NOT p_task.needs && p_lacks)
           AND (p_is_open OR p_task.condition IS DISTINCT FROM 'failure')
$$;
REVOKE EXECUTE ON FUNCTION lockstep.runnable(lockstep.task, boolean, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.runnable(lockstep.task, boolean, text[]) TO lockstep_executor;
