-- The reason for which a schedule decides nothing, also when it is due; NULL: it decides. In a copy of the database its
-- times stay undecided until the server is accepted, as if no dispatcher had been at work.
CREATE OR REPLACE FUNCTION lockstep.job_rests(p_job lockstep.job, p_schedule lockstep.schedule) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    -- not in SQL, which is planned at each call
    IF NOT p_schedule.is_active THEN
        RETURN CASE WHEN p_job.enabled THEN 'the schedule is disabled' ELSE 'the job is disabled' END;
    ELSIF lockstep.queue_is_copy((SELECT q FROM lockstep.queue q WHERE q.queue_id = p_job.queue_id)) THEN
        RETURN 'this is a copy of the database: the schedule waits until the server is accepted';
    END IF;
    RETURN NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_rests(lockstep.job, lockstep.schedule) FROM PUBLIC;
