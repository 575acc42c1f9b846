-- The firings of a job that wait for a dispatcher (lockstep.job_run, job_backfill), the oldest request first.
--   next_try  then at the earliest; while its SQL runs: then its session has been given up
--   failing_since  since then it fails, and the job is not to blame
CREATE OR REPLACE FUNCTION lockstep.job_requests(job text)
RETURNS TABLE (schedule_name text, scheduled_for timestamptz, source text, run_id uuid, next_try timestamptz,
               failing_since timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.name, a.scheduled_for, a.source, a.run_id, a.wake_at, a.failing_since
    FROM lockstep.job_ask a LEFT JOIN lockstep.schedule s ON s.schedule_id = a.fills
    WHERE a.job_id = (SELECT j.job_id FROM lockstep.job j WHERE j.name = job_requests.job) AND a.wake_at IS NOT NULL
    ORDER BY a.ask_no
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_requests(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_requests(text) TO lockstep_monitor, lockstep_operator, lockstep_producer;
