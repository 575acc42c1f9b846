-- Is this task of this type, or an external one of this kind (the message says it)? false if there is no such task.
-- SECURITY DEFINER: groups without a right on the table may ask.
CREATE OR REPLACE FUNCTION lockstep.task_is_type(task_id bigint, type text) RETURNS boolean
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM lockstep.task t
                   WHERE t.task_id = task_is_type.task_id
                     AND (t.type = task_is_type.type
                          OR (t.type = 'external' AND t.payload::json ->> 'kind' = task_is_type.type)))
$$;
REVOKE EXECUTE ON FUNCTION lockstep.task_is_type(bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.task_is_type(bigint, text)
    TO lockstep_executor, lockstep_task, lockstep_producer, lockstep_operator, lockstep_monitor, lockstep_worker;
