-- Whether a schedule that follows a job has an end of this time already, decided or not.
CREATE OR REPLACE FUNCTION lockstep.job_end_known(p_schedule lockstep.schedule, p_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT COALESCE(p_at IN (p_schedule.queued_for, p_schedule.next_at), false)
           OR EXISTS (SELECT FROM lockstep.job_occurrence o
                      WHERE o.schedule_id = p_schedule.schedule_id AND o.scheduled_for = p_at)
           OR EXISTS (SELECT FROM lockstep.job_end e
                      WHERE e.schedule_id = p_schedule.schedule_id AND e.scheduled_for = p_at)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_end_known(lockstep.schedule, timestamptz) FROM PUBLIC;
