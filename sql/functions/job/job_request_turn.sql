-- The request that has waited for longest has its turn (lockstep.job_request). NULL: no request is due.
--   verdict   ask: the caller runs mark and query as the tasks' login, in the transaction of lockstep.fire(token, ...)
--             wait: for the end of a run, or another session is in the way; skip, error: with the reason
CREATE OR REPLACE FUNCTION lockstep.job_request_turn(p_now timestamptz, p_by text) RETURNS lockstep.dispatched
LANGUAGE plpgsql AS $$
DECLARE
    AGAIN CONSTANT interval := interval '2 seconds';
    -- longer than the time-out of its statement (scheduler/ask.c)
    LEASE CONSTANT interval := interval '15 minutes';
    request lockstep.job_ask;
    own lockstep.job;
    due lockstep.schedule;
    decided record;
    done lockstep.dispatched;
BEGIN
    SELECT a.* INTO request
    FROM lockstep.job_ask a JOIN lockstep.job j USING (job_id)
    WHERE a.wake_at <= p_now
    ORDER BY a.ask_no LIMIT 1 FOR NO KEY UPDATE OF j SKIP LOCKED;
    IF FOUND THEN -- with its job's row locked: it may have been withdrawn meanwhile
        SELECT a.* INTO request FROM lockstep.job_ask a WHERE a.token = request.token;
    END IF;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT j.* INTO own FROM lockstep.job j WHERE j.job_id = request.job_id;
    SELECT s.* INTO due FROM lockstep.schedule s WHERE s.schedule_id = request.fills;
    done.job := own.name;
    done.schedule := due.name;
    done.scheduled_for := request.scheduled_for;
    done.verdict := 'ask';
    decided := lockstep.job_request_decide(own, due, request);
    done.reason := COALESCE(decided.detail, 'it has fired meanwhile');
    IF decided.action = 'wait' THEN -- and so do the times behind it
        UPDATE lockstep.job_ask a SET wake_at = p_now + AGAIN
        WHERE a.job_id = own.job_id AND a.wake_at <= p_now AND (a.fills IS NULL) = (request.fills IS NULL);
        done.verdict := 'wait';
        RETURN done;
    ELSIF decided.action IS DISTINCT FROM 'fire' THEN
        DELETE FROM lockstep.job_ask a WHERE a.token = request.token;
        PERFORM lockstep.job_note(own.name, 'skipped', request.source, pg_catalog.format(
                                      '%s: %s', lockstep.job_time(request.scheduled_for), done.reason));
        done.verdict := 'skip';
        RETURN done;
    END IF;
    UPDATE lockstep.job_ask a
    SET token = pg_catalog.gen_random_uuid(), asked_at = pg_catalog.clock_timestamp(), wake_at = p_now + LEASE
    WHERE a.token = request.token RETURNING a.* INTO request;
    BEGIN
        done.words := lockstep.job_words(own, due.name, request.source, request.run_id, request.scheduled_for,
                                         request.asked_at, request.params);
        done.mark := CASE WHEN request.fills IS NULL
                              THEN lockstep.job_bind('trigger.mark', own.spec #>> '{trigger,mark}', done.words) END;
        done.query := lockstep.job_bind('query', own.spec ->> 'query', done.words);
    EXCEPTION
        WHEN data_exception THEN -- a word that the job has no longer
            RETURN lockstep.job_request_failed(request, false, SQLSTATE || ': ' || SQLERRM, p_by);
    END;
    done.token := request.token;
    RETURN done;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_request_turn(timestamptz, text) FROM PUBLIC;
