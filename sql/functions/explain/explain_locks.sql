-- Sessions that are no executor's and hold locks of phases: phases of this queue that are not done, or phases that are
-- still to come. A gate waits for exactly such a lock, and no executor claims a phase whose locks are taken. See
-- explain.
CREATE OR REPLACE FUNCTION lockstep.explain_locks(p_queue_id int) RETURNS SETOF lockstep.explanation
LANGUAGE plpgsql STABLE AS $$
DECLARE
    lock_row record;
BEGIN
    FOR lock_row IN
        WITH held AS MATERIALIZED (
            SELECT DISTINCT k.pid, k.objid::bigint / 2 AS key
            FROM pg_catalog.pg_locks k
            WHERE k.locktype = 'advisory' AND k.objsubid = 2 AND k.granted AND k.pid IS NOT NULL
              AND k.classid = lockstep.lock_class('phase')::oid
              AND k.database = (SELECT d.oid
                                FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())
              AND k.pid NOT IN (SELECT s.pid
                                FROM lockstep.executor_session s JOIN pg_catalog.pg_stat_activity a USING (pid)
                                WHERE a.backend_start IS NULL OR a.backend_start = s.backend_start)),
        named AS ( -- ids are found again from 31 bits
            SELECT h.pid, f.phase_id, f.run_no, f."order", f.queue_id, f.done_at
            FROM held h LEFT JOIN LATERAL (
                SELECT p.phase_id, p.run_no, p."order", p.queue_id, p.done_at
                FROM pg_catalog.generate_series(0, (SELECT pg_catalog.max(n.phase_id) FROM lockstep.phase n) >> 31) AS i
                JOIN lockstep.phase p ON p.phase_id = (i << 31) + h.key ORDER BY i DESC LIMIT 1) AS f ON true)
        SELECT n.pid, pg_catalog.count(n.phase_id) AS phases,
               (SELECT pg_catalog.format('order %s of run %s', m."order",
                                         pg_catalog.concat_ws(' ', r.run_id, '"' || r.name || '"'))
                FROM lockstep.phase m JOIN lockstep.run r USING (run_no)
                WHERE m.phase_id = pg_catalog.min(n.phase_id)) AS first
        FROM named n
        WHERE n.phase_id IS NULL OR (n.queue_id = p_queue_id AND n.done_at IS NULL)
        GROUP BY n.pid ORDER BY 2 DESC, 1 LIMIT 3
    LOOP
        RETURN QUERY
        SELECT e.*
        FROM lockstep.explain_session(lock_row.pid) AS s
        CROSS JOIN LATERAL lockstep.explain_row(
            'locks_taken',
            pg_catalog.format(
                'backend %s holds locks that only executors take (%s)%s%s', lock_row.pid, s.is,
                CASE WHEN lock_row.phases > 0 THEN pg_catalog.format(
                         ', of %s%s: the phase behind it does not open while it holds them', lock_row.first,
                         CASE WHEN lock_row.phases > 1
                                  THEN pg_catalog.format(' and %s more phases', lock_row.phases - 1) END)
                     ELSE ', of phases that are still to come: they are not claimed while it holds them' END,
                ': ' || NULLIF(s.query, '')),
            'queue ' || (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = p_queue_id), s.since,
            ARRAY['PID', lock_row.pid::text]) AS e;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_locks(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_locks(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
