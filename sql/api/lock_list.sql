-- Every advisory lock of Lockstep in this database, held or waited for: one row for each lock and session. For people;
-- not for a hot path (pg_locks stops the lock table for a moment). A phase lock is two advisory locks
-- (phaselock/phaselock.h):
--   A shared, B exclusive: S, held once A is granted and the session waits for no lock; A exclusive, B shared: IX, in
--   the same way.
-- A session that holds S of a phase and waits for another acquisition of it is shown as waiting. since: when the wait
-- began, when a slot was taken, when an executor started; PostgreSQL does not record when a lock was granted. query:
-- the query of the session, if the caller may see it. If another session has taken the lock of an executor or a slot,
-- the host is that session's, and no age is known. A phase id is found from 32 bits: the newest phase that fits.
CREATE OR REPLACE FUNCTION lockstep.lock_list()
RETURNS TABLE (kind text, mode text, state text, queue text, run_id uuid,
    "order" bigint, phase_id bigint, slot_no int, executor_id uuid, pid int, application_name text, host text,
    since timestamptz, age interval, blocked_by int[], query text)
LANGUAGE sql STABLE AS $$
    WITH ours AS (
        SELECT c.kind, l.objid::bigint AS key, l.pid, l.mode, l.granted,
               (pg_catalog.to_jsonb(l) ->> 'waitstart')::timestamptz AS waitstart -- from PostgreSQL 14 on
        FROM pg_catalog.unnest(
            '{phase,slot,executor,producer,migrator,relay,replay,sweep,dispatch}'::text[]) AS c (kind)
        JOIN pg_catalog.pg_locks l ON l.classid = lockstep.lock_class(c.kind)::oid
        WHERE l.locktype = 'advisory' AND l.objsubid = 2
          AND l.database = (SELECT d.oid
                            FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())),
    locks AS (
        SELECT 'phase' AS kind,
               CASE WHEN (o.mode = 'ShareLock') = (o.key % 2 = 0) THEN 'shared' ELSE 'intent' END AS mode,
               o.key / 2 AS key, o.pid, pg_catalog.bool_and(o.granted) AS granted,
               pg_catalog.min(o.waitstart) AS waitstart
        FROM ours o WHERE o.kind = 'phase' GROUP BY 2, 3, 4
        UNION ALL
        SELECT o.kind, CASE o.mode WHEN 'ShareLock' THEN 'shared' ELSE 'exclusive' END, o.key, o.pid, o.granted,
               o.waitstart
        FROM ours o WHERE o.kind <> 'phase')
    SELECT l.kind, l.mode, CASE WHEN l.granted THEN 'held' ELSE 'waiting' END, q.name, r.run_id, p."order",
           CASE l.kind WHEN 'phase' THEN COALESCE(p.phase_id, l.key) END,
           s.slot_no, e.executor_id, l.pid, a.application_name,
           COALESCE(CASE WHEN o.is_own THEN e.host END, a.client_hostname, pg_catalog.host(a.client_addr)), t.since,
           pg_catalog.clock_timestamp() - t.since,
           CASE WHEN l.granted THEN '{}' ELSE pg_catalog.pg_blocking_pids(l.pid) END, a.query
    FROM locks l
    LEFT JOIN LATERAL (
        SELECT f.phase_id, f."order", f.run_no, f.queue_id
        FROM pg_catalog.generate_series(0, (SELECT pg_catalog.max(n.phase_id) FROM lockstep.phase n) >> 31) AS i
        JOIN lockstep.phase f ON f.phase_id = (i << 31) + l.key
        WHERE l.kind = 'phase' ORDER BY i DESC LIMIT 1) p ON true
    LEFT JOIN lockstep.run r ON r.run_no = p.run_no
    LEFT JOIN lockstep.slot s ON l.kind = 'slot' AND s.slot_id = l.key
    LEFT JOIN lockstep.executor e
        ON (l.kind = 'executor' AND e.executor_no = l.key) OR (l.kind = 'slot' AND e.executor_no = s.executor_no)
    LEFT JOIN lockstep.queue q ON q.queue_id = CASE l.kind WHEN 'phase' THEN p.queue_id WHEN 'slot' THEN s.queue_id
                                                    WHEN 'producer' THEN l.key WHEN 'relay' THEN l.key
                                                    WHEN 'replay' THEN l.key WHEN 'sweep' THEN l.key END
    LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
    CROSS JOIN LATERAL (
        SELECT EXISTS (SELECT FROM lockstep.executor_session x
                       WHERE x.executor_no = e.executor_no AND x.pid = l.pid
                         AND (a.backend_start IS NULL OR a.backend_start = x.backend_start)) AS is_own) o
    CROSS JOIN LATERAL (
        SELECT CASE WHEN NOT l.granted THEN l.waitstart WHEN NOT o.is_own THEN NULL WHEN l.kind = 'slot' THEN s.taken_at
                    WHEN l.kind = 'executor' THEN e.started_at END AS since) t
    ORDER BY q.name, l.kind, p.phase_id, s.slot_no, l.granted DESC, l.mode, l.pid
$$;
REVOKE EXECUTE ON FUNCTION lockstep.lock_list() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.lock_list() TO lockstep_executor, lockstep_operator, lockstep_monitor;
