-- Fires the job for whose firing this token was taken, in the transaction of the user's statements that came before it:
-- all of it or nothing. LS002: the token is void, or the decision does not hold any more. p_marked: rows that the job's
-- mark has changed, p_rows: the rows of its query, each a staged task; NULL: it has none. The answer is the run's id;
-- NULL: the query has returned no task, and the time is skipped.
CREATE OR REPLACE FUNCTION lockstep.fire(p_token uuid, p_marked bigint, p_rows jsonb[]) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
    SET lock_timeout = '10s' AS $$
DECLARE
    MOST CONSTANT int := 100000;
    ask CONSTANT lockstep.job_ask := lockstep.job_asked(p_token, true);
    own lockstep.job;
    due lockstep.schedule;
    decided record;
    tasks CONSTANT jsonb[] := lockstep.job_rows(p_rows);
BEGIN
    IF ask.token IS NULL OR ask.asked_at < clock_timestamp() - interval '20 minutes' AND ask.schedule_id IS NULL THEN
        RAISE EXCEPTION 'the job was changed meanwhile, or has another dispatcher'
            USING ERRCODE = 'LS002', HINT = 'Look at the job, and run the same command again.';
    ELSIF cardinality(tasks) > MOST THEN
        RAISE EXCEPTION 'the query returns more than % tasks', MOST
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Let one task do more, or publish them with lockstep publish.';
    ELSIF tasks = '{}' AND p_marked > 0 THEN
        RAISE EXCEPTION 'mark changed % rows, and the query returns no task', p_marked
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'The query sees what mark has done: let it select by the run that mark has written.';
    END IF;
    DELETE FROM lockstep.job_ask a WHERE a.token = ask.token;
    SELECT j.* INTO own FROM lockstep.job j WHERE j.job_id = ask.job_id;
    IF (p_rows IS NOT NULL) <> (own.spec ? 'query')
       OR (p_marked IS NOT NULL) <> COALESCE(own.spec -> 'trigger' ? 'mark', false) THEN
        -- the caller is not ask_fire
        RAISE EXCEPTION 'job % has no such SQL', own.name USING ERRCODE = 'invalid_parameter_value';
    ELSIF p_marked = 0 THEN
        RAISE EXCEPTION 'no row waits: mark changed none'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'If rows wait, mark must be the INSERT or UPDATE itself, not a CALL or SELECT, and change '
                         'rows that "pending" finds.';
    ELSIF ask.fills IS NOT NULL THEN
        RETURN lockstep.job_backfilled(own, ask, tasks);
    ELSIF ask.schedule_id IS NULL AND tasks = '{}' AND ask.wake_at IS NOT NULL THEN -- no caller waits for an answer
        PERFORM lockstep.job_request_end(ask, 'skipped', 'its query returned no task', ask.asked_by);
        RETURN NULL;
    ELSIF ask.schedule_id IS NULL AND tasks = '{}' THEN
        RAISE EXCEPTION 'its query returned no task'
            USING ERRCODE = 'LS002', HINT = 'Nothing has to be done: at its times the job skips such a firing.';
    ELSIF ask.schedule_id IS NULL THEN
        PERFORM lockstep.job_run_guard(own);
        RETURN lockstep.job_fire(own, NULL, ask.scheduled_for, ask.source, 'by hand', ask.params, NULL, 0, tasks,
                                 p_marked, ask.run_id);
    END IF;
    SELECT s.* INTO due FROM lockstep.schedule s WHERE s.schedule_id = ask.schedule_id FOR NO KEY UPDATE;
    decided := lockstep.job_decide(own, due, ask.asked_at);
    IF decided.verdict <> 'fire' OR decided.scheduled_for IS DISTINCT FROM ask.scheduled_for THEN
        RAISE EXCEPTION 'it does not fire any more: %', COALESCE(decided.reason, decided.verdict)
            USING ERRCODE = 'LS002';
    ELSIF tasks = '{}' THEN
        decided.verdict := 'skip';
        decided.reason := 'its query returned no task';
    END IF;
    RETURN lockstep.job_act(own, due, decided, ask.asked_by, tasks, p_marked);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.fire(uuid, bigint, jsonb[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.fire(uuid, bigint, jsonb[]) TO lockstep_task;
