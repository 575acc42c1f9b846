-- When a redrive was asked for, of which it may become known later that its run is on the topic.
CREATE OR REPLACE FUNCTION lockstep.redrive_at(p_queue_id int, p_run uuid) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT r.created_at FROM lockstep.run r WHERE r.queue_id = p_queue_id AND r.run_id = p_run);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.redrive_at(int, uuid) FROM PUBLIC;
