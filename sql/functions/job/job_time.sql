-- A time as text of RFC 3339, in UTC.
CREATE OR REPLACE FUNCTION lockstep.job_time(p_at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.to_char(p_at AT TIME ZONE 'UTC',
                              CASE WHEN p_at = pg_catalog.date_trunc('second', p_at) THEN 'YYYY-MM-DD"T"HH24:MI:SS"Z"'
                                   ELSE 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"' END)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_time(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_time(timestamptz)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
