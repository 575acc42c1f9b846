-- Sessions that hold the lock of dispatch and are no dispatcher: while one does, no job fires.
CREATE OR REPLACE FUNCTION lockstep.dispatch_held() RETURNS TABLE (pid int, is text) LANGUAGE sql STABLE AS $$
    SELECT h.pid, s.is
    FROM lockstep.dispatch_holders() AS h LEFT JOIN LATERAL lockstep.explain_session(h.pid) s ON true
    WHERE NOT h.is_dispatcher AND h.pid <> pg_catalog.pg_backend_pid()
$$;
REVOKE EXECUTE ON FUNCTION lockstep.dispatch_held() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.dispatch_held()
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
