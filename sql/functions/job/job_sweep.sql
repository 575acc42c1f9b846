-- Deletes a batch of rows of jobs that are not kept: lines of the log that are older than p_keep_log, times
-- (lockstep.job_times_sweep) of some jobs in turn, incidents that were closed 90 days ago; of each p_most at most. The
-- answer is the number of rows; fewer than p_most: there is no more to do now.
CREATE OR REPLACE FUNCTION lockstep.job_sweep(p_keep_log interval DEFAULT '30 days', p_most int DEFAULT 1000)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
    JOBS CONSTANT int := 20;
    one record;
    next_job int;
    jobs_done int := 0;
    lines bigint;
    alerts bigint;
    times bigint := 0;
BEGIN
    DELETE FROM lockstep.job_ask a
    WHERE a.schedule_id IS NULL AND a.wake_at IS NULL AND a.asked_at < now() - interval '1 hour';
    DELETE FROM lockstep.job_event e WHERE e.job_event_id = ANY (ARRAY(
        SELECT b.job_event_id FROM lockstep.job_event b WHERE b.at < now() - p_keep_log ORDER BY b.at LIMIT p_most));
    GET DIAGNOSTICS lines = ROW_COUNT;
    DELETE FROM lockstep.job_alert a
    WHERE a.alert_id = ANY (ARRAY(
                                SELECT b.alert_id
                                FROM lockstep.job_alert b
                                WHERE b.closed_at < now() - interval '90 days' ORDER BY b.closed_at LIMIT p_most));
    GET DIAGNOSTICS alerts = ROW_COUNT;
    -- one at a time: two would add the same times twice, or wait for each other
    SELECT s.next_job_id INTO next_job FROM lockstep.job_sweeper s FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN lines + alerts;
    END IF;
    FOR one IN SELECT j.job_id, q.keep_failed_days FROM lockstep.job j LEFT JOIN lockstep.queue q USING (queue_id)
               WHERE j.job_id >= next_job ORDER BY j.job_id LIMIT JOBS LOOP
        times := times + lockstep.job_times_sweep(one.job_id, one.keep_failed_days, p_most - times);
        next_job := one.job_id; -- more of it may be left
        EXIT WHEN times >= p_most;
        next_job := one.job_id + 1;
        jobs_done := jobs_done + 1;
    END LOOP;
    UPDATE lockstep.job_sweeper s
    SET next_job_id = CASE WHEN times < p_most AND jobs_done < JOBS THEN 0 ELSE next_job END;
    RETURN lines + alerts + times;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_sweep(interval, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_sweep(interval, int) TO lockstep_executor;
