-- A look at a trigger, or its firing, failed. The log has it once until it changes; the next look comes later each time.
CREATE OR REPLACE FUNCTION lockstep.job_look_failed(p_job lockstep.job, p_schedule lockstep.schedule, p_why text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    now CONSTANT timestamptz := pg_catalog.clock_timestamp();
    failed lockstep.rows_look;
    decided record;
BEGIN
    IF p_why IS DISTINCT FROM (p_schedule.look).error THEN
        PERFORM lockstep.job_note(p_job.name, 'error', 'trigger', p_why);
    END IF;
    failed.at := now;
    failed.failures := COALESCE((p_schedule.look).failures, 0) + 1;
    failed.error := p_why;
    p_schedule.look := failed;
    p_schedule.next_at := LEAST(p_schedule.next_at, now);
    decided := lockstep.job_decide_rows(p_job, p_schedule, now, NULL);
    UPDATE lockstep.schedule s SET look = failed, asked_until = NULL, next_at = decided.next_at, wake_at = decided.wake_at WHERE s.schedule_id = p_schedule.schedule_id;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_look_failed(lockstep.job, lockstep.schedule, text) FROM PUBLIC;
