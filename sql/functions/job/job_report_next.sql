-- The first time of the schedule of a watch after p_now for which it has not reported; NULL: there is none, or its zone
-- is gone. Behind a step back of the clock reports for times to come exist.
CREATE OR REPLACE FUNCTION lockstep.job_report_next(p_schedule lockstep.schedule, p_now timestamptz)
RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
    at timestamptz := p_now;
BEGIN
    IF lockstep.rule_fault(p_schedule.rule) IS NOT NULL THEN
        RETURN NULL;
    END IF;
    LOOP
        at := lockstep.rule_next(p_schedule.rule, at);
        EXIT WHEN NOT EXISTS (SELECT FROM lockstep.job_occurrence o
                              WHERE o.schedule_id = p_schedule.schedule_id AND o.scheduled_for = at);
    END LOOP;
    RETURN at;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_report_next(lockstep.schedule, timestamptz) FROM PUBLIC;
