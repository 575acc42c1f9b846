-- Whether its trouble keeps an executor from work for a queue. Of its own trouble the kind readers does not; p_topic is
-- the trouble of the queue's topic. The planner puts it into the statement.
CREATE OR REPLACE FUNCTION lockstep.is_troubled(p_trouble text, p_kind text, p_topic text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT p_trouble IS NOT NULL AND p_kind IS DISTINCT FROM 'readers' OR p_topic IS NOT NULL
$$;
REVOKE EXECUTE ON FUNCTION lockstep.is_troubled(text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.is_troubled(text, text, text)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
