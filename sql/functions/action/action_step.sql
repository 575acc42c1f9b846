-- A step outside the database of the attempt that holds this token succeeded, with this answer, and p_next is the next
-- one; the last step ends with lockstep.action_complete. This is durable at once, as the effect of the action is. A
-- second call changes nothing. A stale token raises an error. False: the task, or its run, was cancelled, and no more
-- of its steps may start.
CREATE OR REPLACE FUNCTION lockstep.action_step(p_task_id bigint, p_token uuid, p_next text, p_response text)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    go_on boolean;
BEGIN
    PERFORM set_config('synchronous_commit', 'on', true);
    UPDATE lockstep.task t SET step = p_next, response = p_response, updated_at = clock_timestamp()
    FROM lockstep.run r WHERE t.task_id = p_task_id AND t.token = p_token AND r.run_no = t.run_no
    RETURNING t.cancelled_by IS NULL AND r.cancelled_at IS NULL INTO go_on;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'task %: this attempt is no longer the current one', p_task_id USING ERRCODE = 'LS001';
    END IF;
    RETURN go_on;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.action_step(bigint, uuid, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.action_step(bigint, uuid, text, text) TO lockstep_task;
