-- Was the queue worked on by another server, or in another database? Then this database is a copy of that one: nothing
-- of the queue runs here, and nothing is published to its topic, until an operator accepts the server
-- (queue_accept_server). The answer does not wait for an executor to halt the queue.
CREATE OR REPLACE FUNCTION lockstep.queue_is_copy(p_queue lockstep.queue) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    -- not in SQL, which is planned at each call
    RETURN COALESCE(p_queue.halted_reason = 'other_server', false)
           OR COALESCE(p_queue.server_system || '/' || p_queue.server_database <> lockstep.server_here(), false);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.queue_is_copy(lockstep.queue) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.queue_is_copy(lockstep.queue)
    TO lockstep_executor, lockstep_producer, lockstep_operator;
