-- Fires a job by hand, in the caller's transaction. params override the job's defaults. The rule of the job for a run
-- that has not ended holds here, too: only with overlap allow a second one begins. A producer may run jobs that have no
-- schedules. The answer is the run's id. SQL of the job's own (query, mark) runs in a session of the tasks' login: a
-- dispatcher has one, and fires such a job as soon as this transaction is committed (lockstep.job_requests).
CREATE OR REPLACE FUNCTION lockstep.job_run(job text, params jsonb DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(job_run.job, NULL, true);
BEGIN
    PERFORM lockstep.job_run_check(own, job_run.params);
    IF lockstep.job_has_sql(own.spec) THEN
        IF own.overlap <> 'allow' AND EXISTS (SELECT FROM lockstep.job_ask a
                                              WHERE a.job_id = own.job_id AND a.wake_at IS NOT NULL
                                                AND a.fills IS NULL) THEN
            RAISE EXCEPTION 'a run of job % waits for a dispatcher', own.name
                USING ERRCODE = 'LS002',
                      HINT = format('Wait for its end, or withdraw it: lockstep job withdraw %s', own.name);
        END IF;
        RETURN lockstep.job_request(own, NULL, clock_timestamp(), 'manual by ' || lockstep.actor(), job_run.params,
                                    NULL);
    END IF;
    RETURN lockstep.job_fire(own, NULL, clock_timestamp(), 'manual by ' || lockstep.actor(), 'by hand', job_run.params,
                             NULL, 0);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_run(text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_run(text, jsonb) TO lockstep_operator, lockstep_producer;
