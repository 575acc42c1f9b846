-- Issues a token for SQL of users: one look at a trigger, or one firing. Until the token returns, or its time is over,
-- no session decides this schedule. An earlier token of the schedule is void from now on.
CREATE OR REPLACE FUNCTION lockstep.job_ask(
    p_job lockstep.job, p_schedule lockstep.schedule, p_done lockstep.dispatched, p_now timestamptz, p_by text)
RETURNS lockstep.dispatched LANGUAGE plpgsql AS $$
DECLARE
    LOOK_LEASE CONSTANT interval := interval '1 minute';
    -- longer than the time-out of its statement (sql/job/ask_settings.sql)
    FIRE_LEASE CONSTANT interval := interval '15 minutes';
    ask lockstep.job_ask;
    done lockstep.dispatched := p_done;
BEGIN
    DELETE FROM lockstep.job_ask a WHERE a.schedule_id = p_schedule.schedule_id;
    ask.scheduled_for := COALESCE(p_done.scheduled_for, p_now);
    ask.run_id := lockstep.job_run_id(p_schedule.schedule_uid, ask.scheduled_for);
    INSERT INTO lockstep.job_ask (job_id, schedule_id, scheduled_for, run_id, asked_at, source, asked_by)
    VALUES (p_job.job_id, p_schedule.schedule_id, ask.scheduled_for, ask.run_id, p_now, p_done.reason, p_by)
    RETURNING token INTO done.token;
    IF p_done.verdict = 'look' THEN
        done.look := lockstep.job_look_text(p_schedule.rows_rule);
    ELSE
        done.words := lockstep.job_words(p_job, p_schedule.name, p_done.reason, ask.run_id, ask.scheduled_for,
                                         pg_catalog.clock_timestamp(), NULL)
                      || pg_catalog.jsonb_build_object('rows', (p_schedule.look).rows);
        done.mark := lockstep.job_bind('trigger.mark', (p_schedule.rows_rule).mark, done.words);
        done.query := lockstep.job_bind('query', p_job.spec ->> 'query', done.words);
    END IF;
    UPDATE lockstep.schedule s
    SET asked_until = p_now + CASE p_done.verdict WHEN 'look' THEN LOOK_LEASE ELSE FIRE_LEASE END
    WHERE s.schedule_id = p_schedule.schedule_id;
    RETURN done;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_ask(lockstep.job, lockstep.schedule, lockstep.dispatched, timestamptz, text)
    FROM PUBLIC;
