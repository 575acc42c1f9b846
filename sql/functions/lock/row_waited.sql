-- The session that held up a statement until its time-out (55P03). p_detail, p_context are those of its error. The
-- first of these that exists: the backend that the detail names; the sessions that have the row locked whose place the
-- context gives, whatever the language of its words; all sessions that have rows of these tables locked, because of two
-- sessions that wait for a row only the context of the first names the place.
CREATE OR REPLACE FUNCTION lockstep.row_waited(p_detail text, p_context text) RETURNS SETOF int LANGUAGE plpgsql STABLE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    place CONSTANT tid := (substring(p_context FROM '\(\d+,\d+\)'))::tid;
    named CONSTANT int := substring(p_detail FROM 'backend (\d{1,9})');
BEGIN
    IF named IS NOT NULL THEN
        RETURN NEXT named;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT h.pid
    FROM lockstep.queue q CROSS JOIN LATERAL lockstep.row_holders('lockstep.queue', q.xmax) AS h (pid)
    WHERE q.ctid = place
    UNION
    SELECT h.pid
    FROM lockstep.run r CROSS JOIN LATERAL lockstep.row_holders('lockstep.run', r.xmax) AS h (pid) WHERE r.ctid = place
    UNION
    SELECT h.pid
    FROM lockstep.phase p CROSS JOIN LATERAL lockstep.row_holders('lockstep.phase', p.xmax) AS h (pid)
    WHERE p.ctid = place
    UNION
    SELECT h.pid
    FROM lockstep.task t CROSS JOIN LATERAL lockstep.row_holders('lockstep.task', t.xmax) AS h (pid)
    WHERE t.ctid = place;
    IF NOT FOUND THEN
        RETURN QUERY
        SELECT DISTINCT l.pid
        FROM pg_locks l
        WHERE l.locktype = 'relation' AND l.granted AND l.mode <> 'AccessShareLock' AND l.pid <> pg_backend_pid()
          AND l.relation IN ('lockstep.queue'::regclass, 'lockstep.run'::regclass, 'lockstep.phase'::regclass,
                             'lockstep.task'::regclass)
          AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
          AND l.pid NOT IN (SELECT s.pid FROM lockstep.executor_session s);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.row_waited(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.row_waited(text, text)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
