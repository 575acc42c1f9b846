-- An executor returns tasks that it is not able to run, because it does not know a command of theirs or may not call a
-- host. Another executor may be able to. All needs are noted with the task, and the needs that this executor lacks are
-- noted with the executor, so that adopt does not offer it such tasks again; each need is logged once. The arrays have
-- one element for each need of each task. p_needs: 'command:NAME' or 'http:HOST:PORT'; p_lacks: the executor lacks it.
-- An executor that lacks a thousand needs is not asked again for any task that it returns from then on: tasks with
-- invented names do not make its row grow.
CREATE OR REPLACE FUNCTION lockstep.action_leave(
    p_queue_id int, p_executor_no int, p_task_ids bigint[], p_tokens uuid[], p_needs text[], p_lacks boolean[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    most CONSTANT int := 1000;
    too_many CONSTANT text := 'more than 1000 names';
    all_used boolean := (SELECT pg_catalog.cardinality(e.unable) >= most
                         FROM lockstep.executor e WHERE e.executor_no = p_executor_no);
    count bigint;
    fresh text[];
    free CONSTANT bigint[] := ARRAY(SELECT t.task_id FROM lockstep.task t WHERE t.task_id = ANY (p_task_ids)
                                    ORDER BY t.task_id FOR NO KEY UPDATE SKIP LOCKED); -- as give_back
BEGIN
    UPDATE lockstep.task t
    SET executor_no = NULL, token = NULL, status = 'Pending',
        needs = g.needs || CASE WHEN all_used THEN ARRAY[too_many] ELSE '{}' END,
        updated_at = pg_catalog.clock_timestamp()
    FROM (SELECT u.task_id, u.token, pg_catalog.array_agg(DISTINCT u.need) AS needs
          FROM ROWS FROM (pg_catalog.unnest(p_task_ids), pg_catalog.unnest(p_tokens), pg_catalog.unnest(p_needs)) AS u (
              task_id, token, need)
          GROUP BY 1, 2) AS g
    WHERE t.task_id = g.task_id AND t.token = g.token AND t.task_id = ANY (free) AND lockstep.is_ownable(t.status);
    GET DIAGNOSTICS count = ROW_COUNT;
    SELECT pg_catalog.array_agg(DISTINCT CASE WHEN all_used THEN too_many ELSE n.need END) INTO fresh
    FROM ROWS FROM (pg_catalog.unnest(p_needs), pg_catalog.unnest(p_lacks)) AS n (need, lacks), lockstep.executor e
    WHERE e.executor_no = p_executor_no AND n.lacks
      AND CASE WHEN all_used THEN too_many ELSE n.need END <> ALL (e.unable);
    UPDATE lockstep.executor e SET unable = e.unable || fresh WHERE e.executor_no = p_executor_no AND fresh IS NOT NULL;
    INSERT INTO lockstep.event_log (event, queue_id, executor_no, detail)
    SELECT 'task_left', p_queue_id, p_executor_no,
           f.need || ' is not in the configuration of this executor: such tasks are left to others'
    FROM pg_catalog.unnest(fresh) AS f (need);
    PERFORM pg_catalog.pg_notify('lockstep_' || p_queue_id, 'work');
    RETURN count;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.action_leave(int, int, bigint[], uuid[], text[], boolean[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.action_leave(int, int, bigint[], uuid[], text[], boolean[]) TO lockstep_executor;
