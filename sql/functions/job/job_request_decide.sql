-- Whether a request fires now, as job_backfill_decide has it. A run by hand waits for the end of the job's run, unless
-- they may overlap.
CREATE OR REPLACE FUNCTION lockstep.job_request_decide(
    p_job lockstep.job, p_schedule lockstep.schedule, p_request lockstep.job_ask, OUT action text, OUT detail text)
LANGUAGE sql AS $$
    SELECT d.action, d.detail
    FROM lockstep.job_backfill_decide(
        p_job, p_schedule, p_request.scheduled_for,
        COALESCE(p_request.fills_overlap, CASE p_job.overlap WHEN 'allow' THEN 'allow' ELSE 'queue_one' END)) AS d
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_request_decide(lockstep.job, lockstep.schedule, lockstep.job_ask) FROM PUBLIC;
