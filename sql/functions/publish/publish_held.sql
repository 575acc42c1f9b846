-- Raises an error unless the caller is the queue's producer now: only the session that holds the producers' lock
-- records the outcome of a publishing.
CREATE OR REPLACE FUNCTION lockstep.publish_held(p_queue_id int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_locks l
                   WHERE l.locktype = 'advisory' AND l.pid = pg_catalog.pg_backend_pid() AND l.objsubid = 2
                     AND l.granted AND l.classid = lockstep.lock_class('producer')::oid AND l.objid = p_queue_id::oid
                     AND l.mode = 'ExclusiveLock'
                     AND l.database = (SELECT d.oid
                                       FROM pg_catalog.pg_database d
                                       WHERE d.datname = pg_catalog.current_database())) THEN
        RAISE EXCEPTION 'this session does not hold the producers'' lock of the queue'
            USING ERRCODE = 'insufficient_privilege', HINT = 'Publish with: lockstep publish';
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish_held(int) FROM PUBLIC;
