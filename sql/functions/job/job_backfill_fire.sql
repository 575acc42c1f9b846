-- Fires a time of a range. An earlier decision about it (skipped, missed, error) is replaced; the log keeps it.
-- p_tasks: the rows of the job's query; NULL: it has none. The answer is the run's id; NULL: the query has returned no
-- task, and the time is skipped.
CREATE OR REPLACE FUNCTION lockstep.job_backfill_fire(
    p_job lockstep.job, p_schedule lockstep.schedule, p_at timestamptz, p_source text, p_tasks jsonb[] DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql AS $$
BEGIN
    IF p_tasks = '{}' THEN
        PERFORM lockstep.job_unfired(p_job.job_id, p_schedule.schedule_id, p_at, 'skipped', p_source,
                                     'its query returned no task', 'by hand');
        RETURN NULL;
    END IF;
    DELETE FROM lockstep.job_occurrence o WHERE o.schedule_id = p_schedule.schedule_id AND o.scheduled_for = p_at;
    RETURN lockstep.job_fire(p_job, p_schedule, p_at, p_source, 'by hand', NULL, NULL, 0, p_tasks);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_backfill_fire(lockstep.job, lockstep.schedule, timestamptz, text, jsonb[])
    FROM PUBLIC;
