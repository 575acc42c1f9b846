-- The first open incident whose row is not among p_free, which this session has locked, and the session that has it in
-- an open transaction. NULL: there is none, or its transaction has just ended.
CREATE OR REPLACE FUNCTION lockstep.alert_held(p_free bigint[]) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.format(
        'backend %s holds the row of alert %s in an open transaction (%s): SELECT pg_terminate_backend(%s)',
        s.pid, h.alert_id, pg_catalog.concat_ws(', ', s.usename, NULLIF(s.application_name, ''),
            'since ' || lockstep.job_time(pg_catalog.date_trunc('second', s.xact_start))), s.pid)
    FROM (SELECT a.alert_id, a.xmax AS taken FROM lockstep.job_alert a
          WHERE a.closed_at IS NULL AND a.alert_id NOT IN (SELECT pg_catalog.unnest(p_free))) h
    CROSS JOIN LATERAL lockstep.row_holders('lockstep.job_alert', h.taken) AS r (pid)
    JOIN pg_catalog.pg_stat_activity s ON s.pid = r.pid
    ORDER BY h.alert_id, s.pid LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION lockstep.alert_held(bigint[]) FROM PUBLIC;
