-- Asks the dispatchers to fire a job whose SQL only a session of the tasks' login runs. p_fills: the schedule, in a
-- backfill of its time p_for; NULL: a run by hand. The answer is the id that the run will have.
CREATE OR REPLACE FUNCTION lockstep.job_request(
    p_job lockstep.job, p_fills lockstep.schedule, p_for timestamptz, p_source text, p_params jsonb, p_overlap text)
RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    now CONSTANT timestamptz := pg_catalog.clock_timestamp();
    run CONSTANT uuid := CASE WHEN p_fills.schedule_id IS NULL THEN pg_catalog.gen_random_uuid()
                              ELSE lockstep.job_run_id(p_fills.schedule_uid, p_for) END;
BEGIN
    INSERT INTO lockstep.job_ask (job_id, scheduled_for, run_id, asked_at, source, params, asked_by, fills,
                                  fills_overlap, wake_at)
    VALUES (p_job.job_id, p_for, run, now, p_source, p_params, lockstep.actor(), p_fills.schedule_id, p_overlap, now);
    PERFORM pg_catalog.pg_notify('lockstep_jobs', p_job.name);
    RETURN run;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_request(lockstep.job, lockstep.schedule, timestamptz, text, jsonb, text)
    FROM PUBLIC;
