-- The attempt outside the database that holds this token succeeded, with this answer. This is durable at once, as the
-- effect of the action is. A stale token raises an error.
CREATE OR REPLACE FUNCTION lockstep.action_complete(p_task_id bigint, p_token uuid, p_response text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    ended CONSTANT timestamptz := clock_timestamp();
BEGIN
    PERFORM set_config('synchronous_commit', 'on', true);
    UPDATE lockstep.task t SET status = 'Completed', token = NULL, error = NULL, response = p_response,
        duration = ended - t.started_at, updated_at = ended
    WHERE t.task_id = p_task_id AND t.token = p_token;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'task %: this attempt is no longer the current one', p_task_id USING ERRCODE = 'LS001';
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.action_complete(bigint, uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.action_complete(bigint, uuid, text) TO lockstep_task;
