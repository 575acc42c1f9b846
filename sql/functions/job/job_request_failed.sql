-- The SQL of a request has failed. p_again: the job is not to blame: the request is tried again, for five minutes.
-- When it would not fire any more, because a run of the job began while its SQL ran, its next turn decides. Otherwise
-- it ends with an occurrence whose outcome is error; when that cannot be recorded, it is tried again in a minute.
CREATE OR REPLACE FUNCTION lockstep.job_request_failed(
    p_request lockstep.job_ask, p_again boolean, p_why text, p_by text)
RETURNS lockstep.dispatched LANGUAGE plpgsql AS $$
DECLARE
    PATIENCE CONSTANT interval := interval '5 minutes';
    now CONSTANT timestamptz := pg_catalog.clock_timestamp();
    since CONSTANT timestamptz := COALESCE(p_request.failing_since, now);
    own lockstep.job;
    due lockstep.schedule;
    fires boolean;
    done lockstep.dispatched;
BEGIN
    SELECT j.* INTO own FROM lockstep.job j WHERE j.job_id = p_request.job_id;
    SELECT s.* INTO due FROM lockstep.schedule s WHERE s.schedule_id = p_request.fills;
    fires := (lockstep.job_request_decide(own, due, p_request)).action IS NOT DISTINCT FROM 'fire';
    done.job := own.name;
    done.schedule := due.name;
    done.reason := p_why;
    IF NOT p_again AND NOT fires OR p_again AND now - since < PATIENCE THEN
        UPDATE lockstep.job_ask a
        SET token = pg_catalog.gen_random_uuid(), failing_since = CASE WHEN p_again THEN since END,
            wake_at = CASE WHEN p_again THEN now + lockstep.job_pause(since, now) ELSE now END
        WHERE a.token = p_request.token;
        done.verdict := 'wait';
        RETURN done;
    END IF;
    done.verdict := 'error';
    PERFORM lockstep.job_request_end(p_request, 'error', pg_catalog.left(p_why, 2000), p_by);
    PERFORM lockstep.job_deferred();
    RETURN done;
EXCEPTION
    WHEN lock_not_available OR deadlock_detected OR serialization_failure THEN
        RAISE;
    WHEN OTHERS OR assert_failure THEN
        RAISE WARNING 'job %: % (and: %)', done.job, p_why, SQLERRM;
        UPDATE lockstep.job_ask a
        SET token = pg_catalog.gen_random_uuid(), failing_since = since, wake_at = now + interval '1 minute'
        WHERE a.token = p_request.token;
        RETURN done;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_request_failed(lockstep.job_ask, boolean, text, text) FROM PUBLIC;
