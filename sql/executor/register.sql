-- executor_register :one  a new incarnation: executor_id, host, pid, version, readers, queues, frozen_after (ms); its
-- number; its lock, else the session that has it, and the pid
-- Its liveness session, the caller, is noted at once: if it stops from here on, other executors can end it.
-- columns: executor_no, granted, takers, taker
WITH made AS (
    INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues, frozen_after)
    VALUES ($1::uuid, $2::text, $3::int, $4::text, $5::int, $6::text[], $7::int * interval '1 ms')
    RETURNING executor_no),
noted AS (
    INSERT INTO lockstep.executor_session (executor_no, pid, backend_start, kind)
    SELECT m.executor_no, a.pid, a.backend_start, 'liveness' FROM made m, pg_catalog.pg_stat_activity a
    WHERE a.pid = pg_catalog.pg_backend_pid())
SELECT m.executor_no, l.granted, t.takers, substring(t.takers FROM 'pid (\d+)') AS taker
-- OFFSET: asked once
FROM made m
CROSS JOIN LATERAL (SELECT pg_catalog.pg_try_advisory_lock(lockstep.lock_class('executor'), m.executor_no) AS granted
                    OFFSET 0) AS l
CROSS JOIN LATERAL (SELECT CASE WHEN NOT l.granted THEN lockstep.lock_takers('executor', m.executor_no) END AS takers
                    OFFSET 0) AS t;
