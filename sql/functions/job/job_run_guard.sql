-- Refuses to fire a job by hand while a run of it is open, unless its runs may overlap.
CREATE OR REPLACE FUNCTION lockstep.job_run_guard(p_job lockstep.job) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    open record;
BEGIN
    PERFORM lockstep.job_isolation(p_job.overlap);
    SELECT r.run_id, r.status, r.created_at INTO open
    FROM lockstep.run r WHERE r.job_id = p_job.job_id AND r.ended_at IS NULL ORDER BY r.run_no LIMIT 1;
    IF FOUND AND p_job.overlap <> 'allow' THEN
        RAISE EXCEPTION 'run % of job % is % since %', open.run_id, p_job.name, open.status,
                        lockstep.job_time(pg_catalog.date_trunc('second', open.created_at))
            USING ERRCODE = 'LS002',
                  HINT = pg_catalog.format('Wait for its end, or cancel it: lockstep run cancel %s', open.run_id);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_run_guard(lockstep.job) FROM PUBLIC;
