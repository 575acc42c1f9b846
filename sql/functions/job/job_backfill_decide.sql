-- Whether a backfill fires this time now: fire, wait (for the end of a run), skip, or leave it to the dispatcher; NULL:
-- it has fired. detail: why not. A schedule without a row: it is no time of a schedule. The occurrence of a schedule
-- that was removed says by its source that it was of a rule of times. When the occurrence is kept no longer, the run of
-- the time is known still, and a firing would send nothing. A run that was read from the topic, of a time that was
-- undone, belongs to no job yet: that time fires, and takes the run over.
CREATE OR REPLACE FUNCTION lockstep.job_backfill_decide(
    p_job lockstep.job, p_schedule lockstep.schedule, p_at timestamptz, p_overlap text,
    OUT action text, OUT detail text)
LANGUAGE plpgsql AS $$
DECLARE
    TIMED CONSTANT text := '^(schedule|misfire of schedule|backfill by) '; -- job_source, job_backfill_act
BEGIN
    IF EXISTS (SELECT FROM lockstep.job_occurrence o LEFT JOIN lockstep.schedule s USING (schedule_id)
               WHERE o.job_id = p_job.job_id AND o.scheduled_for = p_at AND o.outcome = 'fired'
                 AND CASE WHEN s.schedule_id IS NULL THEN o.source ~ TIMED ELSE (s.rule).kind IS NOT NULL END) THEN
        RETURN;
    ELSIF EXISTS (SELECT FROM lockstep.schedule s WHERE s.job_id = p_job.job_id AND s.queued_for = p_at)
          OR p_schedule.is_active AND p_schedule.next_at <= p_at THEN
        action := 'leave';
        detail := 'the dispatcher has yet to decide it';
        RETURN;
    END IF;
    SELECT 'skip', pg_catalog.format('it has fired already: run %s is %s', r.run_id, r.status) INTO action, detail
    FROM lockstep.run r
    WHERE r.run_id = ANY (ARRAY(SELECT lockstep.job_run_id(s.schedule_uid, p_at)
                                FROM lockstep.schedule s
                                WHERE s.job_id = p_job.job_id AND (s.rule).kind IS NOT NULL))
      AND r.job_id = p_job.job_id AND r.ended_at IS NOT NULL LIMIT 1;
    IF FOUND THEN
        RETURN;
    END IF;
    action := 'fire';
    IF p_overlap <> 'allow' THEN
        SELECT CASE p_overlap WHEN 'skip' THEN 'skip' ELSE 'wait' END,
               pg_catalog.format('run %s of the job is %s', r.run_id, r.status)
        INTO action, detail
        FROM lockstep.run r WHERE r.job_id = p_job.job_id AND r.ended_at IS NULL ORDER BY r.run_no LIMIT 1;
        action := COALESCE(action, 'fire');
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_backfill_decide(lockstep.job, lockstep.schedule, timestamptz, text)
    FROM PUBLIC;
