-- How far a queue is behind the end of its topic, in offsets, as the executors saw it with their last heartbeat. NULL:
-- no executor that lives and reads the topic has seen it. 0: all published messages are claimed. Otherwise the number
-- also counts the marks of transactions, which are between the messages.
CREATE OR REPLACE FUNCTION lockstep.queue_lag(p_name text, p_next_offset bigint) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN x.at > p_next_offset THEN x.at - p_next_offset WHEN x.at IS NOT NULL THEN 0 END
    FROM (SELECT pg_catalog.max(e.ends[pg_catalog.array_position(e.queues, p_name)]) AS at
          FROM lockstep.executor e
          WHERE e.ended_at IS NULL AND p_name = ANY (e.queues)
            AND e.heartbeat_at > pg_catalog.clock_timestamp() - e.frozen_after
            AND e.trouble_kind IS DISTINCT FROM 'kafka'
            AND e.queue_trouble[pg_catalog.array_position(e.queues, p_name)] IS NULL) AS x
$$;
REVOKE EXECUTE ON FUNCTION lockstep.queue_lag(text, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.queue_lag(text, bigint)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
