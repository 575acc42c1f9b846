-- The attempt that holds this token is done. Runs in the transaction of the task's effect: both commit or neither does.
-- A stale token raises, so the effect of a zombie rolls back. now() is when the transaction began, that is, when the
-- server began with the task's first statement.
-- No SET search_path: docs/explanation/decisions.md. SET enable_seqscan costs a hundredth: without it a plan made while
-- the table has a page or two reads all of it, and is kept while it grows.
CREATE OR REPLACE FUNCTION lockstep.complete(p_task_id bigint, p_token uuid, p_started timestamptz DEFAULT NULL)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET enable_seqscan = off AS $$
BEGIN
    UPDATE lockstep.task
    SET status = 'Completed'::lockstep.status, token = NULL, error = NULL,
        started_at = COALESCE(p_started, pg_catalog.now()),
        duration = pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) COALESCE(p_started, pg_catalog.now()),
        updated_at = pg_catalog.clock_timestamp()
    WHERE task_id OPERATOR(pg_catalog.=) p_task_id AND token OPERATOR(pg_catalog.=) p_token;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'task %: this attempt is no longer the current one', p_task_id USING ERRCODE = 'LS001';
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.complete TO lockstep_task;
