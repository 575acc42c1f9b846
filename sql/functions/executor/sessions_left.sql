-- Ends the task sessions of executors that do not live; the answer is the executors of which some still exist. A
-- session that this login may not end ends by itself when its client's connection is seen to be gone. A session whose
-- start this login may not see counts for a minute: after that its pid may belong to another one. In a function of
-- operators, whose owner sees no start, it counts for as long as there is such a pid: executors decide about its work.
CREATE OR REPLACE FUNCTION lockstep.sessions_left(p_living int[]) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    sees_none CONSTANT boolean := CURRENT_USER <> SESSION_USER;
    s record;
    left_over int[] := '{}';
BEGIN
    PERFORM pg_catalog.pg_stat_clear_snapshot(); -- a copy made earlier in this transaction may be too old
    FOR s IN
        SELECT es.executor_no, es.pid, es.backend_start, a.backend_start AS seen_start, a.pid IS NOT NULL AS there,
               e.ended_at
        FROM lockstep.executor_session es
        JOIN lockstep.executor e USING (executor_no)
        LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = es.pid
        WHERE es.executor_no <> ALL (p_living)
          -- it may have come since they were counted
          AND (e.ended_at IS NOT NULL OR NOT lockstep.executor_lives(es.executor_no))
    LOOP
        IF s.there
           AND (s.seen_start = s.backend_start
                OR (s.seen_start IS NULL
                    AND (sees_none OR s.ended_at > pg_catalog.clock_timestamp() - interval '1 minute'))) THEN
            left_over := left_over || s.executor_no;
            IF s.seen_start IS NOT NULL THEN
                BEGIN
                    PERFORM pg_catalog.pg_terminate_backend(s.pid);
                EXCEPTION WHEN insufficient_privilege THEN
                    NULL;
                END;
            END IF;
        ELSE
            DELETE FROM lockstep.executor_session es
            WHERE es.executor_no = s.executor_no AND es.pid = s.pid AND es.backend_start = s.backend_start;
        END IF;
    END LOOP;
    RETURN left_over;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.sessions_left(int[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.sessions_left(int[]) TO lockstep_executor;
