-- An executor whose heartbeat does not advance though it holds its lock is frozen (stopped, a paused machine). All of
-- its sessions are ended, so its locks are released and its tasks are adopted like those of any dead executor. The
-- observer has judged the standstill by its own clock; the counter is checked once more.
CREATE OR REPLACE FUNCTION lockstep.executor_fence(p_executor_no int, p_heartbeat bigint) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    ended int := 0;
    s record;
BEGIN
    PERFORM FROM lockstep.executor
    WHERE executor_no = p_executor_no AND heartbeat = p_heartbeat AND ended_at IS NULL FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    FOR s IN SELECT es.pid FROM lockstep.executor_session es
             JOIN pg_catalog.pg_stat_activity a ON a.pid = es.pid AND a.backend_start = es.backend_start
             WHERE es.executor_no = p_executor_no LOOP
        BEGIN
            ended := ended + pg_catalog.pg_terminate_backend(s.pid)::int;
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE WARNING 'executor %: no right to end backend %', p_executor_no, s.pid
                USING HINT = pg_catalog.format('An administrator grants it: GRANT pg_signal_backend TO %I;',
                                               session_user);
        END;
    END LOOP;
    INSERT INTO lockstep.event_log (event, executor_no, detail)
    VALUES ('executor_frozen', p_executor_no,
            pg_catalog.format('heartbeat %s stands still; %s sessions ended', p_heartbeat, ended));
    RETURN ended;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.executor_fence(int, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.executor_fence(int, bigint) TO lockstep_executor;
