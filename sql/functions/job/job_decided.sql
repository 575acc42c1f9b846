-- Whether this time of a schedule is decided already, because the clock was set back: it has an occurrence, or waits
-- for the end of a run. The job is named, because an index that begins with it would otherwise be read as a whole by a
-- plan of an empty table, for which all indexes cost the same.
CREATE OR REPLACE FUNCTION lockstep.job_decided(p_schedule lockstep.schedule, p_at timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN COALESCE(p_schedule.queued_for = p_at, false)
           OR EXISTS (SELECT FROM lockstep.job_occurrence o
                      WHERE o.job_id = p_schedule.job_id AND o.schedule_id = p_schedule.schedule_id
                        AND o.scheduled_for = p_at);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_decided(lockstep.schedule, timestamptz) FROM PUBLIC;
