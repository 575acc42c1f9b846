-- Rows up to p_seq are on the topic, whose next unknown offset is p_next_offset.
CREATE OR REPLACE FUNCTION lockstep.relay_sent(p_queue_id int, p_kind text, p_seq bigint, p_next_offset bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    count bigint;
BEGIN
    UPDATE lockstep.relay SET sent_seq = p_seq, next_offset = p_next_offset
    WHERE queue_id = p_queue_id AND kind = p_kind;
    WITH gone AS (
        DELETE FROM lockstep.outbox
        WHERE queue_id = p_queue_id AND kind = p_kind AND relay_seq <= p_seq RETURNING rejected_id),
    noted AS (
        UPDATE lockstep.rejected_message m SET dead_lettered_at = pg_catalog.clock_timestamp()
        -- not joined: see relay_number
        WHERE m.rejected_id = ANY (ARRAY(SELECT g.rejected_id FROM gone g WHERE g.rejected_id IS NOT NULL)))
    SELECT pg_catalog.count(*) INTO count FROM gone;
    RETURN count;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.relay_sent(int, text, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.relay_sent(int, text, bigint, bigint) TO lockstep_executor;
