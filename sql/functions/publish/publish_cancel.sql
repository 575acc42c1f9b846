-- No message of a run that was begun came onto the topic: it is Cancelled.
CREATE OR REPLACE FUNCTION lockstep.publish_cancel(p_queue_id int, p_run uuid, p_why text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM lockstep.publish_held(p_queue_id);
    PERFORM lockstep.run_unpublished(r.run_no, 'Cancelled', p_why)
    FROM lockstep.run r
    WHERE r.queue_id = p_queue_id AND r.run_id = p_run AND r.publish_acked_seq IS NOT NULL AND r.published_at IS NULL;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish_cancel(int, uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.publish_cancel(int, uuid, text) TO lockstep_producer, lockstep_executor;
