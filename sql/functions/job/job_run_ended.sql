-- A run of a job has ended, however it did: its occurrence says so, what waited for it is due, and the jobs that follow it are.
CREATE OR REPLACE FUNCTION lockstep.job_run_ended() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name CONSTANT text := (SELECT j.name FROM lockstep.job j WHERE j.job_id = NEW.job_id);
    was_for timestamptz;
BEGIN
    UPDATE lockstep.job_occurrence o SET status = NEW.status, ended_at = NEW.ended_at WHERE o.run_id = NEW.run_id AND o.job_id = NEW.job_id RETURNING o.scheduled_for INTO was_for;
    IF name IS NULL THEN -- deleted meanwhile
        RETURN NULL;
    END IF;
    PERFORM lockstep.job_note(name, CASE WHEN NEW.status = 'Completed' THEN 'completed' ELSE 'error' END, NEW.started_by, 'the run is ' || NEW.status, NEW.run_id,
        NEW.ended_at - NEW.created_at);
    UPDATE lockstep.schedule s SET wake_at = NEW.ended_at
    WHERE s.job_id = NEW.job_id AND s.is_active AND (s.queued_for IS NOT NULL OR s.next_at <= NEW.ended_at);
    UPDATE lockstep.schedule s SET next_at = COALESCE(was_for, NEW.ended_at), wake_at = NEW.ended_at + s.jitter
    WHERE s.after_job = NEW.job_id AND s.is_active
      AND CASE s.after_end WHEN 'success' THEN NEW.status = 'Completed' WHEN 'failure' THEN NEW.status <> 'Completed' ELSE true END;
    PERFORM pg_notify('lockstep_jobs', name);
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_run_ended() FROM PUBLIC;
