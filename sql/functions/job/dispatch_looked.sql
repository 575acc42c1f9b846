-- Records the result of a look at a trigger, which decides it. NULL p_rows: the look failed, with p_why. If the token
-- is void the verdict is wait, and the call changes nothing.
CREATE OR REPLACE FUNCTION lockstep.dispatch_looked(
    p_by text, p_token uuid, p_rows bigint, p_oldest timestamptz, p_newest timestamptz, p_why text DEFAULT NULL)
RETURNS lockstep.dispatched
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
    SET lock_timeout = '1s' AS $$
DECLARE
    ask CONSTANT lockstep.job_ask := lockstep.job_asked(p_token, false);
    own lockstep.job;
    due lockstep.schedule;
    done lockstep.dispatched;
BEGIN
    IF ask.token IS NULL THEN
        done.verdict := 'wait';
        done.reason := 'the job was changed meanwhile';
        RETURN done;
    END IF;
    DELETE FROM lockstep.job_ask a WHERE a.token = ask.token;
    SELECT j.* INTO own FROM lockstep.job j WHERE j.job_id = ask.job_id;
    IF p_rows IS NULL THEN
        SELECT s.* INTO due FROM lockstep.schedule s WHERE s.schedule_id = ask.schedule_id;
        PERFORM lockstep.job_failed(own, due, NULL, p_by, p_why);
        done.verdict := 'error';
        done.job := own.name;
        done.schedule := due.name;
        done.reason := p_why;
        RETURN done;
    END IF;
    UPDATE lockstep.schedule s
    SET look = ROW(ask.asked_at, p_rows, p_oldest, p_newest, (s.look).failures, NULL)::lockstep.rows_look,
        asked_until = NULL
    WHERE s.schedule_id = ask.schedule_id RETURNING s.* INTO due;
    RETURN lockstep.job_turn(own, due, ask.asked_at, p_by);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_looked(text, uuid, bigint, timestamptz, timestamptz, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_looked(text, uuid, bigint, timestamptz, timestamptz, text)
    TO lockstep_executor;
