-- The sessions whose open transactions have the row of a job, or of a schedule of it, locked. With the owner's rights,
-- because the groups may not read all of these rows.
CREATE OR REPLACE FUNCTION lockstep.job_holders(p_job_id int) RETURNS SETOF int LANGUAGE sql STABLE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.pid FROM lockstep.job j CROSS JOIN LATERAL lockstep.row_holders('lockstep.job', j.xmax) AS r (pid)
    WHERE j.job_id = p_job_id
    UNION
    SELECT r.pid FROM lockstep.schedule s
    CROSS JOIN LATERAL lockstep.row_holders('lockstep.schedule', s.xmax) AS r (pid) WHERE s.job_id = p_job_id
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_holders(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_holders(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
