-- Whether a schedule has an occurrence of this time already: the clock was set back.
CREATE OR REPLACE FUNCTION lockstep.job_decided(p_schedule lockstep.schedule, p_at timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM lockstep.job_occurrence o
                   WHERE o.schedule_id = p_schedule.schedule_id AND o.scheduled_for = p_at);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_decided(lockstep.schedule, timestamptz) FROM PUBLIC;
