-- A relay of enqueued runs begins: the answer is the offset from which on it must search the topic for them. After a
-- fail-over or a restore the topic may have runs that the database has forgotten, and that jobs will fire again, under
-- the same ids: then the relay searches from the cursor on, and the runs that it finds (enqueue_sent) are not sent
-- again.
CREATE OR REPLACE FUNCTION lockstep.enqueue_begin(p_queue_id int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    NOT_SEEN CONSTANT bigint := 9223372036854775807; -- the relay that begins has yet to see the end of the topic
    -- as session_server
    timeline CONSTANT bigint := pg_catalog.concat(
        'x',
        pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1,
                          8))::pg_catalog.bit(32)::bigint;
    cursor CONSTANT bigint := (SELECT q.next_offset FROM lockstep.queue q WHERE q.queue_id = p_queue_id);
    own lockstep.relay;
BEGIN
    -- From the few that are undone to the many that are enqueued; OFFSET 0 keeps that order.
    PERFORM lockstep.enqueue_sent(p_queue_id, pg_catalog.array_agg(e.run_id), NULL)
    FROM lockstep.enqueue_undone u
    CROSS JOIN LATERAL (SELECT b.run_id FROM lockstep.enqueued b
                        WHERE b.run_id = u.run_id AND b.queue_id = p_queue_id OFFSET 0) AS e
    WHERE u.queue_id = p_queue_id HAVING pg_catalog.count(*) > 0;
    INSERT INTO lockstep.relay AS r (queue_id, kind, timeline)
    VALUES (p_queue_id, 'enqueue', timeline)
    ON CONFLICT (queue_id, kind) DO UPDATE SET
        timeline = EXCLUDED.timeline,
        undone_until = CASE WHEN r.timeline <> EXCLUDED.timeline THEN NOT_SEEN
                            WHEN r.undone_until > cursor THEN r.undone_until END
    RETURNING r.* INTO own;
    IF own.undone_until IS NULL THEN
        DELETE FROM lockstep.enqueue_undone u WHERE u.queue_id = p_queue_id;
    ELSIF own.undone_until = NOT_SEEN THEN
        RETURN LEAST(cursor, own.next_offset);
    END IF;
    RETURN GREATEST(own.next_offset,
                    (SELECT pg_catalog.min(e.floor_offset) FROM lockstep.enqueued e WHERE e.queue_id = p_queue_id));
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.enqueue_begin(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.enqueue_begin(int) TO lockstep_executor;
