-- The number of the last attempt of task p_task_id before its present series, 0: there was none. An operator's retry
-- and a replay begin a new series of attempts (lockstep.reopen_tasks): those up to this number count for no delay and
-- no limit any more.
CREATE OR REPLACE FUNCTION lockstep.attempts_done(p_task_id bigint) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT COALESCE(t.first_attempt, 1) - 1 FROM lockstep.task t WHERE t.task_id = p_task_id
$$;
REVOKE EXECUTE ON FUNCTION lockstep.attempts_done(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.attempts_done(bigint) TO lockstep_executor;
