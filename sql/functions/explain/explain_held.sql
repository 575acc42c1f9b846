-- Sessions that keep the row of this queue, or of one of its runs, locked in an open transaction while another session
-- needs it: that session waits, or an executor has just given the row up for a while. A session for whose row no
-- session waits yet is listed once its transaction is older than transactions of Lockstep are: the next message will
-- wait for it. See explain.
CREATE OR REPLACE FUNCTION lockstep.explain_held(p_queue_id int) RETURNS SETOF lockstep.explanation
LANGUAGE plpgsql STABLE AS $$
DECLARE
    h record;
    -- False: no run is read, because there may be thousands.
    locked CONSTANT boolean := EXISTS (SELECT FROM pg_catalog.pg_locks l
                                       WHERE l.locktype = 'relation' AND l.relation = 'lockstep.run'::regclass
                                         AND l.granted AND l.mode IN ('RowShareLock', 'RowExclusiveLock')
                                         AND l.pid <> pg_catalog.pg_backend_pid());
    aside CONSTANT boolean := EXISTS (SELECT FROM lockstep.executor_aside a WHERE a.queue_id = p_queue_id);
    about CONSTANT text := 'queue ' || (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = p_queue_id);
BEGIN
    FOR h IN
        SELECT DISTINCT ON (o.pid) o.pid, o.is AS row, o.needed
        FROM (SELECT i.*,
                     aside
                     OR EXISTS (SELECT FROM pg_catalog.pg_locks w
                                WHERE NOT w.granted AND w.pid IS NOT NULL
                                  AND i.pid = ANY (pg_catalog.pg_blocking_pids(w.pid))) AS needed
              FROM (SELECT p.pid, 0 AS n, about AS is
                    FROM lockstep.queue q CROSS JOIN LATERAL lockstep.row_holders('lockstep.queue', q.xmax) AS p (pid)
                    WHERE q.queue_id = p_queue_id
                    UNION ALL
                    SELECT p.pid, 1,
                           pg_catalog.format('run %s', pg_catalog.concat_ws(' ', r.run_id, '"' || r.name || '"'))
                    FROM (SELECT u.run_id, u.name, u.xmax AS locker FROM lockstep.run u
                          WHERE u.queue_id = p_queue_id AND u.ended_at IS NULL AND locked) AS r
                    CROSS JOIN LATERAL lockstep.row_holders('lockstep.run', r.locker) AS p (pid)) AS i) AS o
        WHERE o.pid NOT IN (SELECT s.pid FROM lockstep.executor_session s WHERE s.kind <> 'reader')
          AND NOT lockstep.explain_passing(o.pid)
          AND (o.needed
               OR EXISTS (SELECT FROM pg_catalog.pg_stat_activity a
                          WHERE a.pid = o.pid AND a.xact_start < pg_catalog.clock_timestamp() - interval '5 s'))
        ORDER BY o.pid, o.n LIMIT 3
    LOOP
        RETURN QUERY
        SELECT e.*
        FROM lockstep.explain_session(h.pid) AS s
        CROSS JOIN LATERAL lockstep.explain_row(
            'row_held',
            pg_catalog.format('backend %s holds the row of %s in an open transaction (%s)%s%s', h.pid, h.row, s.is,
                              ': ' || NULLIF(s.query, ''),
                              CASE WHEN NOT h.needed THEN '; nothing waits for it yet' END),
            about, s.since, ARRAY['PID', h.pid::text]) AS e;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_held(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_held(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
