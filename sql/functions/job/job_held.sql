-- The sessions that hold the row of a job, or of a schedule of it, in an open transaction: a dispatcher passes its
-- schedules over for so long. Not a dispatcher's own: that is deciding them. No row: nothing is in the way.
CREATE OR REPLACE FUNCTION lockstep.job_held(p_job_id int) RETURNS TABLE (pid int, why text)
LANGUAGE sql STABLE AS $$
    SELECT h.pid, pg_catalog.format(
        'backend %s holds the row of job %s in an open transaction (%s): SELECT pg_terminate_backend(%s)',
        h.pid, j.name, pg_catalog.concat_ws(', ', a.usename, NULLIF(a.application_name, ''),
            'since ' || lockstep.job_time(pg_catalog.date_trunc('second', a.xact_start))), h.pid)
    FROM lockstep.job j CROSS JOIN LATERAL lockstep.job_holders(j.job_id) AS h (pid)
    JOIN pg_catalog.pg_stat_activity a ON a.pid = h.pid AND a.application_name NOT LIKE 'lockstep/dispatcher%'
    WHERE j.job_id = p_job_id ORDER BY h.pid
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_held(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_held(int)
TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
