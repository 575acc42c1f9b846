-- The first time of the schedule of a watch after p_now for which it has not reported; NULL: there is none. Behind a
-- step back of the clock reports for times to come exist.
CREATE OR REPLACE FUNCTION lockstep.job_report_next(p_schedule lockstep.schedule, p_now timestamptz)
RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
    at timestamptz := p_now;
BEGIN
    LOOP
        at := lockstep.rule_next(p_schedule.rule, at);
        EXIT WHEN NOT lockstep.job_decided(p_schedule, at);
    END LOOP;
    RETURN at;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_report_next(lockstep.schedule, timestamptz) FROM PUBLIC;
