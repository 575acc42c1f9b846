-- Fires the times of a range, oldest first, for lockstep.job_backfill and job_backfill_ask. A time of a job with a
-- query is fired by a session of the tasks' login. If the caller has one (p_asks), its action is ask, its row has the
-- token for lockstep.fire, and the times behind it are left to the next call; otherwise it is a request to the
-- dispatchers. p_behind: the times up to this one are left out; NULL: none is.
CREATE OR REPLACE FUNCTION lockstep.job_backfill_act(
    p_job lockstep.job, p_from timestamptz, p_to timestamptz, p_schedule text, p_overlap text, p_dry_run boolean,
    p_asks boolean DEFAULT false, p_behind timestamptz DEFAULT NULL)
RETURNS TABLE (schedule_name text, scheduled_for timestamptz, action text, detail text, run_id uuid, token uuid,
               query text, words jsonb)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    source CONSTANT text := 'backfill by ' || lockstep.actor();
    one record;
    due lockstep.schedule;
    has_fired boolean := false;
BEGIN
    PERFORM lockstep.job_backfill_check(p_job, p_from, p_to, p_schedule, p_overlap);
    FOR one IN
        SELECT t.schedule_id, t.at
        FROM lockstep.job_backfill_times(p_job, GREATEST(p_from, p_behind + interval '1 microsecond'), p_to,
                                         p_schedule) t
    LOOP
        SELECT s.* INTO due FROM lockstep.schedule s WHERE s.schedule_id = one.schedule_id;
        SELECT d.action, d.detail INTO action, detail
        FROM lockstep.job_backfill_decide(p_job, due, one.at, p_overlap) d;
        CONTINUE WHEN action IS NULL;
        schedule_name := due.name;
        scheduled_for := one.at;
        run_id := NULL;
        IF p_job.spec ? 'query' AND EXISTS (SELECT FROM lockstep.job_ask a
                                            WHERE a.job_id = p_job.job_id AND a.scheduled_for = one.at
                                              AND a.fills IS NOT NULL AND a.wake_at IS NOT NULL) THEN
            action := 'leave';
            detail := 'it waits for a dispatcher already';
        ELSIF action IN ('fire', 'wait') AND p_job.spec ? 'query' AND NOT p_asks AND NOT p_dry_run THEN
            action := 'request';
            detail := 'a dispatcher runs the query and fires it';
            run_id := lockstep.job_request(p_job, due, one.at, source, NULL, p_overlap);
        ELSIF action = 'fire' AND p_dry_run THEN
            IF has_fired AND p_overlap <> 'allow' THEN
                action := CASE p_overlap WHEN 'skip' THEN 'skip' ELSE 'wait' END;
                detail := 'the run of the time before is open then';
            END IF;
            has_fired := true;
        ELSIF action = 'fire' AND p_job.spec ? 'query' THEN
            action := 'ask';
            run_id := lockstep.job_run_id(due.schedule_uid, one.at);
            words := lockstep.job_words(p_job, due.name, source, run_id, one.at, pg_catalog.clock_timestamp(), NULL);
            query := lockstep.job_bind('query', p_job.spec ->> 'query', words);
            INSERT INTO lockstep.job_ask AS a (job_id, scheduled_for, run_id, asked_at, source, asked_by, fills,
                                               fills_overlap)
            VALUES (p_job.job_id, one.at, run_id, pg_catalog.clock_timestamp(), source, lockstep.actor(),
                    due.schedule_id, p_overlap)
            RETURNING a.token INTO token;
            RETURN NEXT;
            RETURN;
        ELSIF action = 'fire' THEN
            run_id := lockstep.job_backfill_fire(p_job, due, one.at, source);
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_backfill_act(
    lockstep.job, timestamptz, timestamptz, text, text, boolean, boolean, timestamptz) FROM PUBLIC;
