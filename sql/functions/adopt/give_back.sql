-- Gives back tasks that were not started: nobody owns them, their tokens are void, whoever waits is told.
CREATE OR REPLACE FUNCTION lockstep.give_back(p_queue_id int, p_task_ids bigint[], p_tokens uuid[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    count bigint;
BEGIN
    -- In the order of their ids, as run_stop does, so that the two cannot deadlock.
    PERFORM FROM lockstep.task t WHERE t.task_id = ANY (p_task_ids) ORDER BY t.task_id FOR NO KEY UPDATE;
    UPDATE lockstep.task t SET executor_no = NULL, token = NULL, status = 'Pending', updated_at = pg_catalog.clock_timestamp()
    FROM ROWS FROM (pg_catalog.unnest(p_task_ids), pg_catalog.unnest(p_tokens)) AS g (task_id, token)
    WHERE t.task_id = g.task_id AND t.token = g.token AND t.status IN ('Pending', 'Processing', 'Error');
    GET DIAGNOSTICS count = ROW_COUNT;
    PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'work');
    RETURN count;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.give_back TO lockstep_executor;
