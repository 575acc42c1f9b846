-- Notifies an executor to read its row: it listens on the channels of its queues.
CREATE OR REPLACE FUNCTION lockstep.executor_tell(p_executor_no int) RETURNS void LANGUAGE sql AS $$
    SELECT pg_catalog.pg_notify('lockstep_' || q.queue_id, 'control')
    FROM lockstep.executor e JOIN lockstep.queue q ON q.name = ANY (e.queues) WHERE e.executor_no = p_executor_no
$$;
REVOKE EXECUTE ON FUNCTION lockstep.executor_tell(int) FROM PUBLIC;
