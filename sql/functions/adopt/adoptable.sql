-- May such an executor (see runnable) adopt this task now? It may not adopt a task that give_up ends: a task that was
-- cancelled, or one of which as many attempts were lost as its queue allows. The planner inlines this, so that a query
-- with conditions on the phase and the owner uses their index: tests/sql/adopt.sql.
CREATE OR REPLACE FUNCTION lockstep.adoptable(p_task lockstep.task, p_is_open boolean, p_lacks text[], p_max_lost int)
RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT lockstep.runnable(p_task, p_is_open, p_lacks) AND p_task.lost_num < p_max_lost
           AND p_task.cancelled_by IS NULL
           AND (p_task.scheduled_for IS NULL OR p_task.scheduled_for <= pg_catalog.clock_timestamp())
$$;
REVOKE EXECUTE ON FUNCTION lockstep.adoptable(lockstep.task, boolean, text[], int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.adoptable(lockstep.task, boolean, text[], int) TO lockstep_executor;
