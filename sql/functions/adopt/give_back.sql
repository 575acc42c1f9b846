-- Returns tasks that were not started: they have no owner, their tokens are void, and the waiting executors are
-- notified. A row that another session has locked is skipped, because the caller has other tasks and other queues:
-- executor_still_ours names the tasks for which the caller comes again.
CREATE OR REPLACE FUNCTION lockstep.give_back(p_queue_id int, p_task_ids bigint[], p_tokens uuid[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    count bigint;
    free bigint[];
BEGIN
    -- About a skipped task another session decides at this moment, or it keeps the row for an hour.
    free := ARRAY(SELECT t.task_id
                  FROM lockstep.task t
                  WHERE t.task_id = ANY (p_task_ids) ORDER BY t.task_id FOR NO KEY UPDATE SKIP LOCKED);
    UPDATE lockstep.task t
    SET executor_no = NULL, token = NULL, status = 'Pending', updated_at = pg_catalog.clock_timestamp()
    FROM ROWS FROM (pg_catalog.unnest(p_task_ids), pg_catalog.unnest(p_tokens)) AS g (task_id, token)
    WHERE t.task_id = g.task_id AND t.token = g.token AND t.task_id = ANY (free) AND lockstep.is_ownable(t.status);
    GET DIAGNOSTICS count = ROW_COUNT;
    PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'work');
    RETURN count;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.give_back TO lockstep_executor;
