-- The decision about a time at which a run of the job is open (p_why), by the job's overlap: skip, queue or cancel.
-- With queue_one one time of the job waits, whichever of its schedules has it.
-- p_before: as of job_decide.
CREATE OR REPLACE FUNCTION lockstep.job_meets(
    p_job lockstep.job, p_schedule lockstep.schedule, p_why text, p_before lockstep.dispatched[], OUT verdict text,
    OUT reason text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    other text;
BEGIN
    verdict := CASE p_job.overlap WHEN 'queue_one' THEN 'queue' ELSE p_job.overlap END;
    reason := p_why;
    IF p_job.overlap = 'queue_one' THEN
        SELECT s.name INTO other
        FROM lockstep.schedule s
        WHERE s.job_id = p_job.job_id AND s.schedule_id <> p_schedule.schedule_id
          AND (s.queued_for IS NOT NULL
               OR EXISTS (SELECT FROM pg_catalog.unnest(p_before) AS b
                          WHERE b.schedule = s.name AND b.verdict = 'queue'))
        ORDER BY s.name LIMIT 1;
        IF FOUND THEN
            verdict := 'skip';
            reason := pg_catalog.format('one of schedule %s waits already: %s', other, p_why);
        END IF;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_meets(lockstep.job, lockstep.schedule, text, lockstep.dispatched[]) FROM PUBLIC;
