-- Deletes a queue with its runs, tasks and records; returns how many tasks they were.
CREATE OR REPLACE FUNCTION lockstep.queue_delete(p_queue_id int) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own text;
    tasks bigint;
BEGIN
    SELECT q.name INTO own FROM lockstep.queue q WHERE q.queue_id = p_queue_id FOR UPDATE; -- no claim runs beside us
    DELETE FROM lockstep.task_attempt a USING lockstep.task t WHERE a.task_id = t.task_id AND t.queue_id = p_queue_id;
    DELETE FROM lockstep.task t WHERE t.queue_id = p_queue_id;
    GET DIAGNOSTICS tasks = ROW_COUNT;
    DELETE FROM lockstep.queue q WHERE q.queue_id = p_queue_id;
    IF own IS NOT NULL THEN
        INSERT INTO lockstep.event_log (event, queue_id, detail) VALUES ('queue_deleted', p_queue_id, own);
    END IF;
    PERFORM pg_notify('lockstep_' || p_queue_id, 'control');
    RETURN tasks;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.queue_delete(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.queue_delete(int) TO lockstep_operator;
