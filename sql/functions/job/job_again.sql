-- A firing failed, and the job is not to blame: whether it is tried again, and when (NULL: not; then it is an error as
-- any other). A time is tried until catchup_window is over, the rows of a trigger for five minutes. From the second
-- time in a row on the log of the job has the reason, once until it changes.
CREATE OR REPLACE FUNCTION lockstep.job_again(p_job lockstep.job, p_schedule lockstep.schedule, p_why text)
RETURNS interval LANGUAGE plpgsql AS $$
DECLARE
    PATIENCE CONSTANT interval := interval '5 minutes';
    now CONSTANT timestamptz := pg_catalog.clock_timestamp();
    why CONSTANT text := pg_catalog."left"(p_why, 2000);
    is_trigger CONSTANT boolean := (p_schedule.rows_rule).relation IS NOT NULL;
BEGIN
    IF is_trigger AND p_schedule.failing_since <= now - PATIENCE THEN
        RETURN NULL;
    END IF;
    IF p_schedule.failing_since IS NOT NULL AND p_schedule.failing_why IS DISTINCT FROM why THEN
        PERFORM lockstep.job_note(
            p_job.name, 'error', CASE WHEN is_trigger THEN 'trigger' ELSE 'schedule ' || p_schedule.name END, why);
    END IF;
    UPDATE lockstep.schedule s
    SET failing_why = CASE WHEN s.failing_since IS NOT NULL THEN why END,
        failing_since = COALESCE(s.failing_since, now)
    WHERE s.schedule_id = p_schedule.schedule_id; -- its time stays
    RETURN lockstep.job_pause(p_schedule.failing_since, now);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_again(lockstep.job, lockstep.schedule, text) FROM PUBLIC;
