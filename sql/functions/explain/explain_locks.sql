-- Sessions that are no executor's and hold locks of phases: phases of this queue that are not done, or phases that are
-- still to come. A gate waits for exactly such a lock, and no executor claims a phase whose locks are taken. And those
-- that hold locks of slots of this queue, of its executors or of its relay. See explain.
CREATE OR REPLACE FUNCTION lockstep.explain_locks(p_queue_id int) RETURNS SETOF lockstep.explanation
LANGUAGE plpgsql STABLE AS $$
DECLARE
    lock_row record;
BEGIN
    FOR lock_row IN
        WITH held AS MATERIALIZED (
            SELECT DISTINCT k.pid, k.key / 2 AS key FROM lockstep.lock_strangers('phase') AS k),
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
    FOR lock_row IN
        SELECT k.pid, pg_catalog.string_agg(DISTINCT k.text, '; ') AS text
        FROM (SELECT l.pid, 'of slots: no reader gets these while it holds them' AS text
              FROM lockstep.lock_strangers('slot') AS l
              JOIN lockstep.slot s ON s.slot_id = l.key WHERE s.queue_id = p_queue_id
              UNION ALL
              SELECT l.pid, pg_catalog.format('of executor %s: if that is dead, its tasks wait while it holds them',
                                              x.executor_id)
              FROM lockstep.lock_strangers('executor') AS l
              CROSS JOIN LATERAL (SELECT b.* FROM lockstep.executor b WHERE b.executor_no = l.key OFFSET 0) AS x
              WHERE x.ended_at IS NULL
                AND (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = p_queue_id) = ANY (x.queues)
              UNION ALL
              SELECT l.pid, 'of the relay: what was enqueued is not sent while it holds them'
              FROM lockstep.lock_strangers('relay') AS l WHERE l.key = p_queue_id) k
        GROUP BY k.pid ORDER BY k.pid LIMIT 3
    LOOP
        RETURN QUERY
        SELECT e.*
        FROM lockstep.explain_session(lock_row.pid) AS s
        CROSS JOIN LATERAL lockstep.explain_row(
            'locks_taken',
            pg_catalog.format('backend %s holds locks that only executors take (%s), %s%s', lock_row.pid, s.is,
                              lock_row.text, ': ' || NULLIF(s.query, '')),
            'queue ' || (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = p_queue_id), s.since,
            ARRAY['PID', lock_row.pid::text]) AS e;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_locks(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_locks(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
