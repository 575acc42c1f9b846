-- The words of a firing, and their values. Times are texts of RFC 3339, in UTC. PL/pgSQL, as all that each firing
-- calls: it keeps plans, a function in SQL is planned each time.
CREATE OR REPLACE FUNCTION lockstep.job_words(
    p_job lockstep.job, p_schedule text, p_source text, p_run uuid, p_for timestamptz, p_at timestamptz, p_params jsonb)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    previous CONSTANT timestamptz := (SELECT pg_catalog.max(o.scheduled_for) FROM lockstep.job_occurrence o
        WHERE o.job_id = p_job.job_id AND o.outcome = 'fired' AND o.scheduled_for < p_for);
    good CONSTANT timestamptz := (SELECT o.scheduled_for FROM lockstep.job_occurrence o
        WHERE o.job_id = p_job.job_id AND o.status = 'Completed' ORDER BY o.scheduled_for DESC LIMIT 1);
BEGIN
    RETURN COALESCE(p_job.spec -> 'defaults', '{}') || COALESCE(p_params, '{}') || pg_catalog.jsonb_build_object(
               'job', p_job.name, 'schedule', p_schedule, 'source', p_source, 'run', p_run, 'rows', NULL,
               'scheduled_at', lockstep.job_time(p_for), 'fired_at', lockstep.job_time(p_at),
               'previous_scheduled_at', lockstep.job_time(previous), 'last_success_at', lockstep.job_time(good));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_words(lockstep.job, text, text, uuid, timestamptz, timestamptz, jsonb)
    FROM PUBLIC;
