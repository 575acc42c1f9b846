-- A run that is about to be published, in the name of the login: its number, or no row when the run exists.
CREATE OR REPLACE FUNCTION lockstep.publish_start(
    p_queue_id int, p_run uuid, p_name text, p_on_failure text, p_mode text, p_from text, p_source text, p_format text,
    p_digest text, p_bytes bigint, p_offset bigint)
RETURNS SETOF bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    no bigint;
BEGIN
    PERFORM lockstep.publish_held(p_queue_id);
    INSERT INTO lockstep.run (run_id, queue_id, name, on_failure, status, published_by, publish_mode, publish_from,
                              publish_source, publish_format, publish_digest, publish_bytes, publish_acked_seq,
                              publish_acked_offset)
    VALUES (p_run, p_queue_id, p_name, p_on_failure, 'Publishing', session_user, p_mode, p_from, p_source, p_format,
            p_digest, p_bytes, -1, p_offset)
    ON CONFLICT (queue_id, run_id) DO NOTHING
    RETURNING run_no INTO no;
    IF no IS NOT NULL THEN
        INSERT INTO lockstep.event_log (event, queue_id, run_no) VALUES ('publish_started', p_queue_id, no);
        RETURN NEXT no;
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish_start(int, uuid, text, text, text, text, text, text, text, bigint, bigint)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.publish_start(int, uuid, text, text, text, text, text, text, text, bigint, bigint)
    TO lockstep_producer, lockstep_executor;
