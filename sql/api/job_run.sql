-- Fires a job by hand, in the caller's transaction. params override the job's defaults. The rule of the job for a run
-- that has not ended holds here, too: only with overlap allow a second one begins. A producer may run jobs that have no
-- schedules. The answer is the run's id.
CREATE OR REPLACE FUNCTION lockstep.job_run(job text, params jsonb DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own CONSTANT lockstep.job := lockstep.job_named(job_run.job, NULL, true);
BEGIN
    PERFORM lockstep.job_run_check(own, job_run.params);
    IF own.spec ? 'query' OR own.spec -> 'trigger' ? 'mark' THEN
        RAISE EXCEPTION 'job % has SQL of its own, which only the tasks'' login runs', own.name USING ERRCODE = 'LS002',
            HINT = format('lockstep job run %s', own.name);
    END IF;
    RETURN lockstep.job_fire(own, NULL, clock_timestamp(), 'manual by ' || lockstep.actor(), 'by hand', job_run.params,
                             NULL, 0);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_run(text, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_run(text, jsonb) TO lockstep_operator, lockstep_producer;
