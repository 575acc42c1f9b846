-- SQL of users for a firing has failed, or its outcome is unknown. p_again: the job is not to blame (the session was
-- lost, another session was in the way): it is decided again, soon at first, and then after as long as it has waited
-- already, up to a minute; from the second time in a row on the log has it, once until it changes. A time is missed
-- after catchup_window; the rows of a trigger are no time, so that after five minutes the failure is an error as any
-- other. A token that is void has fired, or its job was changed: the call changes nothing.
CREATE OR REPLACE FUNCTION lockstep.dispatch_failed(p_by text, p_token uuid, p_again boolean, p_why text)
RETURNS lockstep.dispatched
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
    SET lock_timeout = '1s' AS $$
DECLARE
    AGAIN CONSTANT interval := interval '2 seconds';
    LONGEST CONSTANT interval := interval '1 minute';
    PATIENCE CONSTANT interval := interval '5 minutes';
    why CONSTANT text := left(p_why, 2000);
    ask CONSTANT lockstep.job_ask := lockstep.job_asked(p_token, false);
    own lockstep.job;
    due lockstep.schedule;
    done lockstep.dispatched;
BEGIN
    done.verdict := 'wait';
    done.reason := p_why;
    IF ask.token IS NULL THEN
        RETURN done;
    END IF;
    DELETE FROM lockstep.job_ask a WHERE a.token = ask.token;
    SELECT j.* INTO own FROM lockstep.job j WHERE j.job_id = ask.job_id;
    SELECT s.* INTO due FROM lockstep.schedule s WHERE s.schedule_id = ask.schedule_id;
    done.job := own.name;
    done.schedule := due.name;
    done.scheduled_for := ask.scheduled_for;
    IF p_again
       AND ((due.rows_rule).relation IS NULL OR due.failing_since IS NULL
            OR due.failing_since > clock_timestamp() - PATIENCE) THEN
        IF due.failing_since IS NOT NULL AND due.failing_why IS DISTINCT FROM why THEN
            PERFORM lockstep.job_note(
                own.name, 'error',
                CASE WHEN (due.rows_rule).relation IS NULL THEN 'schedule ' || due.name ELSE 'trigger' END, why);
        END IF;
        UPDATE lockstep.schedule s
        SET asked_until = clock_timestamp()
                          + LEAST(GREATEST(clock_timestamp() - COALESCE((s.look).at, s.wake_at), AGAIN), LONGEST),
            failing_why = CASE WHEN s.failing_since IS NOT NULL THEN why END,
            failing_since = COALESCE(s.failing_since, clock_timestamp())
        WHERE s.schedule_id = ask.schedule_id; -- its time stays: after catchup_window a time is missed
    ELSE
        done.verdict := 'error';
        PERFORM lockstep.job_failed(own, due, ask.scheduled_for, p_by, p_why);
    END IF;
    RETURN done;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_failed(text, uuid, boolean, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_failed(text, uuid, boolean, text) TO lockstep_executor;
