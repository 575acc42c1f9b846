-- All of a run is on the topic: it is published, or, with p_why, its end says that it was aborted.
CREATE OR REPLACE FUNCTION lockstep.publish_finish(
    p_queue_id int, p_run uuid, p_seq bigint, p_offset bigint, p_tasks bigint, p_phases bigint, p_digest text,
    p_why text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    no bigint;
BEGIN
    PERFORM lockstep.publish_held(p_queue_id);
    UPDATE lockstep.run
    SET published_at = clock_timestamp(), publish_acked_seq = p_seq, publish_acked_offset = p_offset,
        publish_digest = COALESCE(publish_digest, p_digest), publish_error = COALESCE(p_why, publish_error)
    WHERE queue_id = p_queue_id AND run_id = p_run AND publish_acked_seq IS NOT NULL AND published_at IS NULL
    RETURNING run_no INTO no;
    IF no IS NOT NULL THEN
        INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
        VALUES (CASE WHEN p_why IS NULL THEN 'run_published' ELSE 'publish_aborted' END, p_queue_id, no,
                COALESCE(p_why,
                         format('%s in %s', lockstep.counted(p_tasks, 'task'), lockstep.counted(p_phases, 'phase'))));
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish_finish(int, uuid, bigint, bigint, bigint, bigint, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.publish_finish(int, uuid, bigint, bigint, bigint, bigint, text, text)
    TO lockstep_producer, lockstep_executor;
