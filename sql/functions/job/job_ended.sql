-- A run of a job has ended, however it did: its occurrence says so, what waited for it is due, and the jobs that follow it are.
CREATE OR REPLACE FUNCTION lockstep.job_ended(p_run lockstep.run) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name CONSTANT text := (SELECT j.name FROM lockstep.job j WHERE j.job_id = p_run.job_id);
    was_for timestamptz;
    one record;
BEGIN
    UPDATE lockstep.job_occurrence o SET status = p_run.status, ended_at = p_run.ended_at WHERE o.run_id = p_run.run_id AND o.job_id = p_run.job_id RETURNING o.scheduled_for INTO was_for;
    IF name IS NULL THEN -- deleted meanwhile
        RETURN;
    END IF;
    PERFORM lockstep.job_note(name, CASE WHEN p_run.status = 'Completed' THEN 'completed' ELSE 'error' END, p_run.started_by, 'the run is ' || p_run.status, p_run.run_id,
        p_run.ended_at - p_run.created_at);
    UPDATE lockstep.schedule s SET wake_at = p_run.ended_at
    WHERE s.job_id = p_run.job_id AND s.is_active AND (s.queued_for IS NOT NULL OR s.next_at <= p_run.ended_at);
    FOR one IN SELECT s.schedule_id, s.job_id, s.next_at, s.name FROM lockstep.schedule s
               WHERE s.after_job = p_run.job_id AND s.is_active
                 AND CASE s.after_end WHEN 'success' THEN p_run.status = 'Completed' WHEN 'failure' THEN p_run.status <> 'Completed' ELSE true END
               ORDER BY s.schedule_id FOR NO KEY UPDATE LOOP
        IF one.next_at IS NOT NULL THEN -- of the end before, which no dispatcher has decided
            INSERT INTO lockstep.job_occurrence (job_id, schedule_id, scheduled_for, outcome, source, reason, dispatcher)
            VALUES (one.job_id, one.schedule_id, one.next_at, 'skipped', 'schedule ' || one.name, 'the job that it follows has ended again', 'the end of a run')
            ON CONFLICT (schedule_id, scheduled_for) DO NOTHING;
        END IF;
        -- A run that was retried ends again for the same time, which is decided: then this end is a time of its own.
        UPDATE lockstep.schedule s
        SET wake_at = GREATEST(p_run.ended_at, pg_catalog.clock_timestamp()) + s.jitter, -- a run that was found on the topic may have ended long ago
            next_at = CASE WHEN was_for IS NULL OR was_for IN (s.queued_for, s.next_at)
                                OR EXISTS (SELECT FROM lockstep.job_occurrence o WHERE o.schedule_id = s.schedule_id AND o.scheduled_for = was_for) THEN p_run.ended_at ELSE was_for END
        WHERE s.schedule_id = one.schedule_id;
    END LOOP;
    PERFORM pg_catalog.pg_notify('lockstep_jobs', name);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_ended(lockstep.run) FROM PUBLIC;
