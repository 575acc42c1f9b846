-- A step of the attempt that holds this token is done, and p_next is the next one; the last step ends with
-- lockstep.complete. The caller runs this in the transaction of the step's effect: both commit or neither does. A stale
-- token raises an error, so the step of a zombie rolls back. False: the task, or its run, was cancelled, and no more of
-- its steps may start. No SET search_path: docs/explanation/decisions.md.
CREATE OR REPLACE FUNCTION lockstep.step_done(p_task_id bigint, p_token uuid, p_next text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    go_on boolean;
BEGIN
    UPDATE lockstep.task t
    SET step = p_next, updated_at = pg_catalog.clock_timestamp()
    FROM lockstep.run r
    WHERE t.task_id OPERATOR(pg_catalog.=) p_task_id AND t.token OPERATOR(pg_catalog.=) p_token
      AND r.run_no OPERATOR(pg_catalog.=) t.run_no
    RETURNING t.cancelled_by IS NULL AND r.cancelled_at IS NULL INTO go_on;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'task %: this attempt is no longer the current one', p_task_id USING ERRCODE = 'LS001';
    END IF;
    RETURN go_on;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.step_done(bigint, uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.step_done(bigint, uuid, text) TO lockstep_task;
