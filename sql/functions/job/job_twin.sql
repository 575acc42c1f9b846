-- Which other schedule of the job has fired p_at, or keeps it waiting, in words; NULL: none has. Only of rules of
-- times: the end of another job is an event of its own. It is PL/pgSQL, as all that each firing calls: SQL is planned
-- at each call.
-- p_before: as of job_decide.
CREATE OR REPLACE FUNCTION lockstep.job_twin(
    p_schedule lockstep.schedule, p_at timestamptz, p_before lockstep.dispatched[] DEFAULT '{}')
RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    twin text;
BEGIN
    IF NOT EXISTS (SELECT FROM lockstep.schedule s
                   WHERE s.job_id = p_schedule.job_id AND s.schedule_id <> p_schedule.schedule_id) THEN
        RETURN NULL; -- as most jobs: the statement below takes four times as long
    END IF;
    SELECT s.name INTO twin
    FROM lockstep.schedule s
    WHERE s.job_id = p_schedule.job_id AND s.schedule_id <> p_schedule.schedule_id AND (s.rule).kind IS NOT NULL
      AND (p_schedule.rule).kind IS NOT NULL
      AND (s.queued_for = p_at
           OR EXISTS (SELECT FROM lockstep.job_occurrence o
                      WHERE o.schedule_id = s.schedule_id AND o.scheduled_for = p_at AND o.outcome = 'fired')
           OR EXISTS (SELECT FROM pg_catalog.unnest(p_before) AS b
                      WHERE b.schedule = s.name AND b.scheduled_for = p_at
                        AND b.verdict IN ('fire', 'queue', 'cancel')))
    ORDER BY s.name LIMIT 1;
    RETURN 'schedule ' || twin || ' has the same time';
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_twin(lockstep.schedule, timestamptz, lockstep.dispatched[]) FROM PUBLIC;
