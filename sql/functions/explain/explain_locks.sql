-- Sessions that are no executor's and hold locks of phases: phases of this queue that are not done, or phases that are
-- still to come. A gate waits for exactly such a lock, and no executor claims a phase whose locks are taken. And those
-- that hold locks of slots of this queue, of its executors or of its relay. See explain.
CREATE OR REPLACE FUNCTION lockstep.explain_locks(p_queue_id int) RETURNS SETOF lockstep.explanation
LANGUAGE plpgsql STABLE AS $$
DECLARE
    queue_name CONSTANT text := (SELECT q.name FROM lockstep.queue q WHERE q.queue_id = p_queue_id);
BEGIN
    RETURN QUERY
    WITH held AS MATERIALIZED (
        SELECT DISTINCT k.pid, k.key / 2 AS key FROM lockstep.lock_strangers('phase') AS k),
    named AS ( -- ids are found again from 31 bits
        SELECT h.pid, f.phase_id, f.run_no, f."order", f.queue_id, f.done_at
        FROM held h LEFT JOIN LATERAL (
            SELECT p.phase_id, p.run_no, p."order", p.queue_id, p.done_at
            FROM pg_catalog.generate_series(0, (SELECT pg_catalog.max(n.phase_id) FROM lockstep.phase n) >> 31) AS i
            JOIN lockstep.phase p ON p.phase_id = (i << 31) + h.key ORDER BY i DESC LIMIT 1) AS f ON true),
    phases AS (
        SELECT n.pid, pg_catalog.count(n.phase_id) AS phases,
               (SELECT pg_catalog.format('order %s of run %s', m."order",
                                         pg_catalog.concat_ws(' ', r.run_id, '"' || r.name || '"'))
                FROM lockstep.phase m JOIN lockstep.run r USING (run_no)
                WHERE m.phase_id = pg_catalog.min(n.phase_id)) AS first
        FROM named n
        WHERE n.phase_id IS NULL OR (n.queue_id = p_queue_id AND n.done_at IS NULL)
        GROUP BY n.pid ORDER BY 2 DESC, 1 LIMIT 3),
    others AS (
        SELECT k.pid, pg_catalog.string_agg(DISTINCT k.effect, '; ') AS effect
        FROM (SELECT l.pid, 'of slots: no reader gets these while it holds them' AS effect
              FROM lockstep.lock_strangers('slot') AS l
              JOIN lockstep.slot s ON s.slot_id = l.key WHERE s.queue_id = p_queue_id
              UNION ALL
              SELECT l.pid, pg_catalog.format('of executor %s: if that is dead, its tasks wait while it holds them',
                                              x.executor_id)
              FROM lockstep.lock_strangers('executor') AS l JOIN lockstep.executor x ON x.executor_no = l.key
              WHERE x.ended_at IS NULL AND queue_name = ANY (x.queues)
              UNION ALL
              SELECT l.pid, 'of the relay: no enqueued run is sent while it holds them'
              FROM lockstep.lock_strangers('relay') AS l WHERE l.key = p_queue_id) k
        GROUP BY k.pid ORDER BY k.pid LIMIT 3),
    found AS (
        SELECT p.pid, 1 AS part, p.phases,
               CASE WHEN p.phases > 0 THEN pg_catalog.format(
                        'of %s%s: the phase behind it does not open while it holds them', p.first,
                        CASE WHEN p.phases > 1 THEN pg_catalog.format(' and %s more phases', p.phases - 1) END)
                    ELSE 'of phases that are still to come: they are not claimed while it holds them' END AS effect
        FROM phases p
        UNION ALL
        SELECT o.pid, 2, 0, o.effect FROM others o)
    SELECT e.*
    FROM found f
    CROSS JOIN LATERAL lockstep.explain_session(f.pid) AS s
    CROSS JOIN LATERAL lockstep.explain_row(
        'locks_taken',
        pg_catalog.format('backend %s holds locks that only executors take (%s), %s%s', f.pid, s.is, f.effect,
                          ': ' || NULLIF(s.query, '')),
        'queue ' || queue_name, s.since, ARRAY['PID', f.pid::text]) AS e
    ORDER BY f.part, f.phases DESC, f.pid;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.explain_locks(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.explain_locks(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
