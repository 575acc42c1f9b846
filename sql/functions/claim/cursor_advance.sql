-- The cursor moves past a record, whose fingerprint is kept: the identity of the topic (offset, timestamp, digest). A
-- record without a digest leaves the fingerprint of the one before. Called under the lock of the queue's row.
CREATE OR REPLACE FUNCTION lockstep.cursor_advance(p_queue_id int, p_offset bigint, p_timestamp bigint, p_digest bytea)
RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    UPDATE lockstep.queue
    SET next_offset = p_offset + 1,
        last_offset = CASE WHEN p_digest IS NULL THEN last_offset ELSE p_offset END,
        last_timestamp = CASE WHEN p_digest IS NULL THEN last_timestamp ELSE p_timestamp END,
        last_digest = COALESCE(p_digest, last_digest)
    WHERE queue_id = p_queue_id;
    RETURN p_offset + 1;
END
$$;
GRANT EXECUTE ON FUNCTION lockstep.cursor_advance TO lockstep_executor;
