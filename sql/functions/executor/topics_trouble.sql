-- The topics of its queues that an executor cannot read, in words, and since when; NULLs: it can read all of them, or
-- it cannot reach Kafka.
CREATE OR REPLACE FUNCTION lockstep.topics_trouble(
    p_queues text[], p_queue_trouble text[], p_queue_trouble_at timestamptz[], p_trouble_kind text)
RETURNS TABLE (words text, at timestamptz) LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.string_agg(pg_catalog.format('queue %s: %s', n.queue, n.trouble), '; ' ORDER BY n.place),
           pg_catalog.min(n.at)
    FROM ROWS FROM (pg_catalog.unnest(p_queues), pg_catalog.unnest(p_queue_trouble),
                    pg_catalog.unnest(p_queue_trouble_at)) WITH ORDINALITY AS n (queue, trouble, at, place)
    WHERE n.trouble IS NOT NULL AND p_trouble_kind IS DISTINCT FROM 'kafka'
$$;
REVOKE EXECUTE ON FUNCTION lockstep.topics_trouble(text[], text[], timestamptz[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.topics_trouble(text[], text[], timestamptz[], text)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
