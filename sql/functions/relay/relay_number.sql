-- The relay assigns numbers to rows of the outbox, in the order of their ids as far as these are visible now; a row
-- that is committed later with a lower id gets a later number. So a consequence is numbered behind its cause: its row
-- was made when the cause was committed. The content of an event is made now. The answer is the newest number that is
-- assigned.
CREATE OR REPLACE FUNCTION lockstep.relay_number(p_queue_id int, p_kind text, p_most int) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    last bigint;
    -- in an array, and not joined: a plan made while the outbox was empty would read all of it, and the fresh rows once
    -- for each
    ids bigint[];
BEGIN
    SELECT last_seq INTO STRICT last
    FROM lockstep.relay WHERE queue_id = p_queue_id AND kind = p_kind FOR NO KEY UPDATE;
    ids := ARRAY(
        SELECT o.outbox_id FROM lockstep.outbox o
        WHERE o.queue_id = p_queue_id AND o.kind = p_kind AND o.relay_seq IS NULL
        ORDER BY o.outbox_id LIMIT p_most);
    WITH taken AS (
        UPDATE lockstep.outbox o
        SET relay_seq = last + pg_catalog.width_bucket(o.outbox_id, ids), -- its place among them
            key = CASE WHEN o.event IS NULL THEN o.key
                       ELSE (SELECT pg_catalog.convert_to(r.run_id::text, 'UTF8')
                             FROM lockstep.run r WHERE r.run_no = o.run_no) END,
            value = CASE WHEN o.event IS NULL THEN o.value
                         ELSE COALESCE(o.value, lockstep.event_message(o.outbox_id)) END
        WHERE o.outbox_id = ANY (ids) RETURNING o.relay_seq)
    SELECT COALESCE(pg_catalog.max(t.relay_seq), last) INTO last FROM taken t;
    UPDATE lockstep.relay SET last_seq = last WHERE queue_id = p_queue_id AND kind = p_kind AND last_seq <> last;
    RETURN last;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.relay_number(int, text, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.relay_number(int, text, int) TO lockstep_executor;
