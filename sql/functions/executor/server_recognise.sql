-- Is this the server on which the queue was worked on? The queue's row names that server, and goes with the database
-- into every copy of it: a dump that is restored elsewhere, a template, a base backup that was given an identity of its
-- own.
--
-- verdict   noted        the server was not known, it is noted now
--           same         it is the same
--           failed_over  the same cluster and database on a later timeline: a standby was promoted, or a backup
--                        restored
--           other        the queue is halted (other_server)
--           unknown      the server does not give its identity
CREATE OR REPLACE FUNCTION lockstep.server_recognise(
    p_queue_id int, p_executor_no int, p_system text, p_database bigint, p_timeline bigint, OUT verdict text,
    OUT timeline_was bigint, OUT detail text)
LANGUAGE plpgsql AS $$
DECLARE
    q record;
BEGIN
    IF p_system IS NULL THEN
        verdict := 'unknown';
        RETURN;
    END IF;
    SELECT server_timeline INTO timeline_was
    FROM lockstep.queue
    WHERE queue_id = p_queue_id AND server_system = p_system AND server_database = p_database
      AND server_timeline = p_timeline;
    IF FOUND THEN -- nothing to note: no wait for a session that holds the row
        verdict := 'same';
        RETURN;
    END IF;
    SELECT server_system, server_database, server_timeline, halted_reason INTO STRICT q
    -- two executors come at the same time: one notes it
    FROM lockstep.queue WHERE queue_id = p_queue_id FOR NO KEY UPDATE;
    timeline_was := q.server_timeline;
    verdict := CASE WHEN q.server_system IS NULL THEN 'noted'
                    WHEN (q.server_system, q.server_database) IS DISTINCT FROM (p_system, p_database)
                         OR p_timeline < q.server_timeline THEN 'other'
                    WHEN p_timeline > q.server_timeline THEN 'failed_over' ELSE 'same' END;
    IF verdict = 'other' THEN
        detail := pg_catalog.format(
            'the queue was worked on in database %s of server %s on timeline %s; this is database %s of server %s '
                'on timeline %s: a copy, or another server at the same address',
            q.server_database, q.server_system, q.server_timeline, p_database, p_system, p_timeline);
        UPDATE lockstep.queue
        SET halted_reason = 'other_server', halted_at = pg_catalog.clock_timestamp(),
            halted_detail = server_recognise.detail
        WHERE queue_id = p_queue_id
          AND (halted_reason, halted_detail) IS DISTINCT FROM ('other_server', server_recognise.detail);
    ELSIF verdict <> 'same' THEN
        UPDATE lockstep.queue
        SET server_system = p_system, server_database = p_database, server_timeline = p_timeline
        WHERE queue_id = p_queue_id;
    END IF;
    IF verdict IN ('failed_over', 'other') AND q.halted_reason IS DISTINCT FROM 'other_server' THEN
        INSERT INTO lockstep.event_log (event, queue_id, executor_no, detail)
        VALUES (CASE verdict WHEN 'other' THEN 'queue_halted' ELSE 'failed_over' END, p_queue_id, p_executor_no,
                COALESCE(detail, pg_catalog.format('timeline %s -> %s', q.server_timeline, p_timeline)));
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.server_recognise(int, int, text, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.server_recognise(int, int, text, bigint, bigint) TO lockstep_executor;
