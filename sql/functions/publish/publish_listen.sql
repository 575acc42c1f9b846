-- Listens on the channel of a queue, because LISTEN takes no parameter. The payload "run" says that a run has ended.
CREATE OR REPLACE FUNCTION lockstep.publish_listen(queue_id int) RETURNS text LANGUAGE plpgsql STRICT AS $$
DECLARE
    channel text := 'lockstep_' || queue_id;
BEGIN
    EXECUTE pg_catalog.format('LISTEN %I', channel);
    RETURN channel;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish_listen(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.publish_listen(int)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
