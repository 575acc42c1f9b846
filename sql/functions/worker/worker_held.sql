-- The row of a task that an external worker has, locked, if updated_at is its current token. LS003: there is no such
-- task; LS001: the token is stale; LS002: no worker may report the task. The function waits for another report of the
-- same task.
CREATE OR REPLACE FUNCTION lockstep.worker_held(p_task_id bigint, p_updated_at timestamptz) RETURNS lockstep.task
LANGUAGE plpgsql AS $$
DECLARE
    t lockstep.task;
BEGIN
    PERFORM lockstep.worker_begin();
    SELECT k.* INTO t FROM lockstep.task k WHERE k.task_id = p_task_id AND k.type = 'external' FOR NO KEY UPDATE;
    IF NOT FOUND AND EXISTS (SELECT FROM lockstep.task k WHERE k.task_id = p_task_id) THEN
        RAISE EXCEPTION 'task % is no external task', p_task_id USING ERRCODE = 'LS002';
    ELSIF NOT FOUND THEN
        RAISE EXCEPTION 'there is no task %', COALESCE(p_task_id::text, 'without a number') USING ERRCODE = 'LS003';
    ELSIF t.updated_at IS DISTINCT FROM p_updated_at THEN
        RAISE EXCEPTION 'task %: updated_at is stale; the task has changed since: it is %', p_task_id,
                        pg_catalog.concat_ws(', ', t.status, 'worker ' || t.worker)
            USING ERRCODE = 'LS001',
                  HINT = 'Stop working on it: its lease has ended, an operator has changed it, or this report was made '
                         'before.';
    ELSIF t.status <> 'Processing' THEN
        RAISE EXCEPTION 'task % is % and no worker has it', p_task_id, t.status
            USING ERRCODE = 'LS002', HINT = 'Take it with lockstep.next_task.';
    END IF;
    RETURN t;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.worker_held(bigint, timestamptz) FROM PUBLIC;
