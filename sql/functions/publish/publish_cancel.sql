-- No message of a run that was begun came onto the topic. If first_offset is set, a claim has met the run nevertheless;
-- then its state belongs to the executors.
CREATE OR REPLACE FUNCTION lockstep.publish_cancel(p_queue_id int, p_run uuid, p_why text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    no bigint;
BEGIN
    PERFORM lockstep.publish_held(p_queue_id);
    UPDATE lockstep.run SET status = 'Cancelled', error = p_why, ended_at = clock_timestamp()
    WHERE queue_id = p_queue_id AND run_id = p_run AND status = 'Publishing' AND first_offset IS NULL
      AND publish_acked_seq IS NOT NULL AND published_at IS NULL
    RETURNING run_no INTO no;
    IF no IS NOT NULL THEN
        INSERT INTO lockstep.event_log (event, queue_id, run_no, detail)
        VALUES ('publish_failed', p_queue_id, no, p_why);
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish_cancel(int, uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.publish_cancel(int, uuid, text) TO lockstep_producer, lockstep_executor;
