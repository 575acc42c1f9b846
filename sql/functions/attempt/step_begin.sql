-- The attempt that holds this token begins with the steps of its task: with the one that the row names, or with the
-- first. Shown as Processing at once. A stale token raises.
CREATE OR REPLACE FUNCTION lockstep.step_begin(
    p_task_id bigint, p_token uuid, p_first text, OUT step text, OUT started_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
BEGIN
    UPDATE lockstep.task t
    SET status = 'Processing', step = COALESCE(t.step, p_first), started_at = clock_timestamp(),
        updated_at = clock_timestamp(), backend_pid = pg_backend_pid()
    WHERE t.task_id = p_task_id AND t.token = p_token
    RETURNING t.step, t.started_at INTO step_begin.step, step_begin.started_at;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'task %: this attempt is no longer the current one', p_task_id USING ERRCODE = 'LS001';
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.step_begin(bigint, uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.step_begin(bigint, uuid, text) TO lockstep_task;
