-- SQL of users for a firing has failed, or its outcome is unknown. p_again: the job is not to blame (the session was
-- lost, another session was in the way): it is decided again, as lockstep.job_again has it. Nor is it to blame when its
-- time would not fire any more, because a run of it began while its SQL ran: then its next turn decides. A token that
-- is void has fired, or its job was changed: the call changes nothing.
CREATE OR REPLACE FUNCTION lockstep.dispatch_failed(p_by text, p_token uuid, p_again boolean, p_why text)
RETURNS lockstep.dispatched
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
    SET lock_timeout = '1s' AS $$
DECLARE
    ask CONSTANT lockstep.job_ask := lockstep.job_asked(p_token, false);
    own lockstep.job;
    due lockstep.schedule;
    done lockstep.dispatched;
    pause interval;
    decided record;
    fires boolean := true;
BEGIN
    done.verdict := 'wait';
    done.reason := p_why;
    IF ask.token IS NULL THEN
        RETURN done;
    END IF;
    IF ask.wake_at IS NOT NULL THEN
        RETURN lockstep.job_request_failed(ask, p_again, p_why, p_by);
    END IF;
    DELETE FROM lockstep.job_ask a WHERE a.token = ask.token;
    SELECT j.* INTO own FROM lockstep.job j WHERE j.job_id = ask.job_id;
    SELECT s.* INTO due FROM lockstep.schedule s WHERE s.schedule_id = ask.schedule_id;
    done.job := own.name;
    done.schedule := due.name;
    done.scheduled_for := ask.scheduled_for;
    IF p_again THEN
        pause := lockstep.job_again(own, due, p_why);
    ELSE
        BEGIN
            decided := lockstep.job_decide(own, due, ask.asked_at);
            fires := decided.verdict = 'fire' AND decided.scheduled_for IS NOT DISTINCT FROM ask.scheduled_for;
        EXCEPTION
            WHEN OTHERS OR assert_failure THEN
                NULL; -- a schedule that cannot be decided (its zone is gone) is an error, too
        END;
    END IF;
    IF NOT fires THEN
        UPDATE lockstep.schedule s SET asked_until = NULL WHERE s.schedule_id = ask.schedule_id;
    ELSIF pause IS NOT NULL THEN
        UPDATE lockstep.schedule s SET asked_until = clock_timestamp() + pause WHERE s.schedule_id = ask.schedule_id;
    ELSE
        done.verdict := 'error';
        PERFORM lockstep.job_failed(own, due, ask.scheduled_for, p_by, p_why);
    END IF;
    RETURN done;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_failed(text, uuid, boolean, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_failed(text, uuid, boolean, text) TO lockstep_executor;
