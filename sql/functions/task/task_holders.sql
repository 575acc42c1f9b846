-- The sessions, except those of executors and this one, whose open transactions have the row of a task locked; NULL:
-- none. With the owner's rights, because no other role may read all of that row.
CREATE OR REPLACE FUNCTION lockstep.task_holders(p_task_id bigint) RETURNS int[] LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_agg(h.pid ORDER BY h.pid)
    FROM lockstep.task t CROSS JOIN LATERAL lockstep.row_holders('lockstep.task', t.xmax) AS h (pid)
    WHERE t.task_id = p_task_id AND h.pid NOT IN (SELECT s.pid FROM lockstep.executor_session s)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.task_holders(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.task_holders(bigint)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
