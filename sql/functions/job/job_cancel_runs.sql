-- Asks the open runs of a job to end. One that was asked already is left; their ends are not waited for. Returns the
-- oldest one that it has asked; NULL: there was none.
CREATE OR REPLACE FUNCTION lockstep.job_cancel_runs(p_job lockstep.job, p_why text) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    one record;
    oldest uuid;
BEGIN
    FOR one IN SELECT r.run_id, q.name FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
               WHERE r.job_id = p_job.job_id AND r.ended_at IS NULL AND r.cancelled_at IS NULL ORDER BY r.run_no LOOP
        BEGIN
            PERFORM lockstep.run_cancel(one.run_id, p_why, one.name);
            oldest := COALESCE(oldest, one.run_id);
        EXCEPTION
            WHEN SQLSTATE 'LS002' THEN -- it has just ended, or another session cancels it
                NULL;
        END;
    END LOOP;
    RETURN oldest;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_cancel_runs(lockstep.job, text) FROM PUBLIC;
