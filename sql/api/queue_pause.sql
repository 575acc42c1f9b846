-- An operator pauses a queue.
CREATE OR REPLACE FUNCTION lockstep.queue_pause(queue text, reason text DEFAULT NULL) RETURNS int LANGUAGE sql AS $$
    SELECT lockstep.queue_hold(queue, true, reason)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.queue_pause(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.queue_pause(text, text) TO lockstep_operator;
