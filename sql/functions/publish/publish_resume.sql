-- A publishing that was broken off continues, from this source, behind this record, in the name of the login: the login
-- that resumes it answers for the source.
CREATE OR REPLACE FUNCTION lockstep.publish_resume(
    p_queue_id int, p_run uuid, p_from text, p_source text, p_format text, p_digest text, p_bytes bigint, p_seq bigint,
    p_offset bigint, p_chain text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    no bigint;
BEGIN
    PERFORM lockstep.publish_held(p_queue_id);
    UPDATE lockstep.run
    SET publish_from = p_from, publish_source = p_source, publish_format = p_format, publish_digest = p_digest,
        publish_bytes = p_bytes, publish_acked_seq = p_seq, publish_acked_offset = p_offset, publish_chain = p_chain,
        published_by = session_user
    WHERE queue_id = p_queue_id AND run_id = p_run AND publish_acked_seq IS NOT NULL AND published_at IS NULL
    RETURNING run_no INTO no;
    IF no IS NOT NULL THEN
        INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
        VALUES ('publish_resumed', p_queue_id, no, format('with seq %s', p_seq + 1));
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish_resume(int, uuid, text, text, text, text, bigint, bigint, bigint, text)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.publish_resume(int, uuid, text, text, text, text, bigint, bigint, bigint, text)
    TO lockstep_producer, lockstep_executor;
