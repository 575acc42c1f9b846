-- A run of a job has ended, in any status: its occurrence records that, a time that waited for it is due, and the jobs
-- that follow it are due: each of its ends is one occurrence of theirs. An end that comes before the previous one is
-- decided waits behind it (lockstep.job_end). The dispatcher is notified if a schedule is due by this.
CREATE OR REPLACE FUNCTION lockstep.job_ended(p_run lockstep.run) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name CONSTANT text := (SELECT j.name FROM lockstep.job j WHERE j.job_id = p_run.job_id);
    was_for timestamptz;
    one lockstep.schedule;
    at timestamptz;
    due timestamptz;
    is_due boolean;
BEGIN
    UPDATE lockstep.job_occurrence o
    SET status = p_run.status, ended_at = p_run.ended_at, retried = p_run.reopened_at IS NOT NULL
    WHERE o.run_id = p_run.run_id AND o.job_id = p_run.job_id RETURNING o.scheduled_for INTO was_for;
    IF name IS NULL THEN -- deleted meanwhile
        RETURN;
    END IF;
    PERFORM lockstep.job_note(name, CASE WHEN p_run.status = 'Completed' THEN 'completed' ELSE 'error' END,
                              p_run.started_by, 'the run is ' || p_run.status, p_run.run_id,
                              p_run.ended_at - GREATEST(p_run.created_at, p_run.reopened_at));
    UPDATE lockstep.schedule s SET wake_at = p_run.ended_at
    WHERE s.job_id = p_run.job_id AND s.is_active AND (s.queued_for IS NOT NULL OR s.next_at <= p_run.ended_at);
    is_due := FOUND;
    FOR one IN
        SELECT s.*
        FROM lockstep.schedule s
        WHERE s.after_job = p_run.job_id AND s.is_active
          AND CASE s.after_end WHEN 'success' THEN p_run.status = 'Completed'
                   WHEN 'failure' THEN p_run.status <> 'Completed' ELSE true END
        ORDER BY s.schedule_id FOR NO KEY UPDATE
    LOOP
        is_due := true;
        at := was_for;
        -- a run that was retried ends again for the same time: then this end is a time of its own
        IF at IS NULL OR lockstep.job_end_known(one, at) THEN
            at := p_run.ended_at;
            WHILE lockstep.job_end_known(one, at) LOOP
                at := at + interval '1 microsecond';
            END LOOP;
        END IF;
        -- a run that was found on the topic may have ended long ago
        due := GREATEST(p_run.ended_at, pg_catalog.clock_timestamp()) + one.jitter;
        IF one.next_at IS NULL THEN
            UPDATE lockstep.schedule s SET next_at = at, due_at = due, wake_at = due
            WHERE s.schedule_id = one.schedule_id;
        ELSE
            INSERT INTO lockstep.job_end (schedule_id, scheduled_for, due_at) VALUES (one.schedule_id, at, due);
        END IF;
    END LOOP;
    IF is_due THEN
        PERFORM pg_catalog.pg_notify('lockstep_jobs', name);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_ended(lockstep.run) FROM PUBLIC;
