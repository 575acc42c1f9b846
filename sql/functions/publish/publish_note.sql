-- The newest record of a publishing that is committed. Claims write the same row under the queue's lock; this touches
-- only the producer's own columns, so neither undoes the other.
CREATE OR REPLACE FUNCTION lockstep.publish_note(
    p_queue_id int, p_run uuid, p_seq bigint, p_offset bigint, p_chain text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM lockstep.publish_held(p_queue_id);
    UPDATE lockstep.run SET publish_acked_seq = p_seq, publish_acked_offset = p_offset, publish_chain = p_chain
    WHERE queue_id = p_queue_id AND run_id = p_run AND publish_acked_seq IS NOT NULL AND published_at IS NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish_note(int, uuid, bigint, bigint, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.publish_note(int, uuid, bigint, bigint, text)
    TO lockstep_producer, lockstep_executor;
