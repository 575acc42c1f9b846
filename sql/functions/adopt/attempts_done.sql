-- The number of the last attempt of task p_task_id that was final, 0: none was. An operator's retry begins a new series
-- of attempts: those up to this number count for no delay and no limit any more.
CREATE OR REPLACE FUNCTION lockstep.attempts_done(p_task_id bigint) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT COALESCE(pg_catalog.max(a.attempt), 0)
    FROM lockstep.task_attempt a WHERE a.task_id = p_task_id AND lockstep.is_finished(a.status)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.attempts_done(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.attempts_done(bigint) TO lockstep_executor;
