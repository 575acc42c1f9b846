-- The session that publishes this run, if lockstep publish began it and still does: it has the queue's producer lock,
-- and begins no other run before it has finished, or closed, the one before. None: its producer is gone, is another
-- program, or has finished.
CREATE OR REPLACE FUNCTION lockstep.run_producer(p_run_no bigint) RETURNS TABLE (pid int, usename name)
LANGUAGE sql STABLE AS $$
    SELECT a.pid, a.usename
    FROM lockstep.run r
    JOIN pg_catalog.pg_locks l ON l.locktype = 'advisory' AND l.classid = lockstep.lock_class('producer')::oid
        AND l.objid = r.queue_id::oid AND l.objsubid = 2 AND l.granted
        AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())
    JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
    WHERE r.run_no = p_run_no AND r.published_at IS NULL AND r.publish_acked_seq IS NOT NULL AND r.ended_at IS NULL
      AND NOT EXISTS (SELECT FROM lockstep.run b
                      WHERE b.queue_id = r.queue_id AND b.run_no > r.run_no AND b.publish_acked_seq IS NOT NULL)
    LIMIT 1
$$;
REVOKE EXECUTE ON FUNCTION lockstep.run_producer(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.run_producer(bigint)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
