-- Locks a task, for an operator who is about to change it: its queue's row, its run and the task, in this order, and
-- the answer is the task's row. The function does not wait for the task's own row while it holds the queue's: that row
-- is locked when an attempt is being recorded right now, and the caller must see the outcome first (55P03: call again
-- in a moment). The detail names a session that keeps it. LS003: there is no such task.
CREATE OR REPLACE FUNCTION lockstep.task_held(p_task_id bigint) RETURNS lockstep.task LANGUAGE plpgsql AS $$
DECLARE
    t lockstep.task;
    holder int;
BEGIN
    SELECT k.* INTO t FROM lockstep.task k WHERE k.task_id = p_task_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no task %', COALESCE(p_task_id::text, 'without a number')
            USING ERRCODE = 'LS003', HINT = 'lockstep task list';
    END IF;
    PERFORM FROM lockstep.queue q WHERE q.queue_id = t.queue_id FOR NO KEY UPDATE;
    PERFORM FROM lockstep.run r WHERE r.run_no = t.run_no FOR NO KEY UPDATE;
    IF EXISTS (SELECT FROM lockstep.run r WHERE r.run_no = t.run_no AND r.swept) THEN
        RAISE EXCEPTION 'task %: it is being deleted: its queue does not keep its run any longer', p_task_id
            USING ERRCODE = 'LS002', HINT = 'Publish the work again as another run.';
    ELSIF EXISTS (SELECT FROM lockstep.run r
                  WHERE r.run_no = t.run_no AND r.cancelled_at IS NOT NULL AND r.ended_at IS NULL) THEN
        RAISE EXCEPTION 'task %: its run is being cancelled', p_task_id
            USING ERRCODE = 'LS002', HINT = pg_catalog.format('What it waits for: lockstep task explain %s', p_task_id);
    END IF;
    PERFORM FROM lockstep.task k WHERE k.task_id = p_task_id FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        holder := (lockstep.task_holders(p_task_id))[1];
        IF holder IS NOT NULL THEN
            RAISE EXCEPTION
                'task %: an attempt of it is being recorded at this moment, or a session keeps its row locked',
                p_task_id
                USING ERRCODE = 'lock_not_available', DETAIL = pg_catalog.format('backend %s holds the row', holder),
                      HINT = pg_catalog.format(
                          'Try again. If it stays so, end that session: SELECT pg_terminate_backend(%s)', holder);
        END IF;
        RAISE EXCEPTION 'task %: an attempt of it is being recorded at this moment', p_task_id
            USING ERRCODE = 'lock_not_available', HINT = 'Try again.';
    END IF;
    SELECT k.* INTO STRICT t FROM lockstep.task k WHERE k.task_id = p_task_id;
    RETURN t;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.task_held(bigint) FROM PUBLIC;
