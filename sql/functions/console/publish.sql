-- lockstep.enqueue for the console: a program with a token that may publish has no group that may call that.
CREATE OR REPLACE FUNCTION lockstep.publish(queue text, tasks jsonb[], name text, run uuid, on_failure text)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM lockstep.publish_allowed();
    RETURN lockstep.enqueue(publish.queue, publish.tasks, publish.name, publish.run, publish.on_failure);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.publish(text, jsonb[], text, uuid, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.publish(text, jsonb[], text, uuid, text)
    TO lockstep_producer, lockstep_monitor, lockstep_operator;
