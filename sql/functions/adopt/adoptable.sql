-- May such an executor (see runnable) adopt this task now? Not one that give_up ends: it was cancelled, or as many
-- attempts of it were lost as its queue allows. The planner inlines it, so a query with the phase and the owner beside
-- it uses their index: tests/sql/adopt.sql.
CREATE OR REPLACE FUNCTION lockstep.adoptable(p_task lockstep.task, p_is_open boolean, p_lacks text[], p_max_lost int)
RETURNS boolean LANGUAGE sql VOLATILE AS $$
    SELECT lockstep.runnable(p_task, p_is_open, p_lacks) AND p_task.lost_num < p_max_lost
           AND p_task.cancelled_by IS NULL
           AND (p_task.scheduled_for IS NULL OR p_task.scheduled_for <= pg_catalog.clock_timestamp())
$$;
REVOKE EXECUTE ON FUNCTION lockstep.adoptable(lockstep.task, boolean, text[], int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.adoptable(lockstep.task, boolean, text[], int) TO lockstep_executor;
