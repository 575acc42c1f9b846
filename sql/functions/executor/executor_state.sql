-- The state of an executor that has not ended, in a word, for lists of executors: a trouble that concerns some of its
-- readers, or one of its queues, leaves it ok. It is VOLATILE, as the clock is, so that the planner puts it into the
-- statement.
CREATE OR REPLACE FUNCTION lockstep.executor_state(
    p_alive boolean, p_heartbeat_at timestamptz, p_frozen_after interval, p_trouble_kind text, p_drain_by text,
    p_signalled text)
RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN NOT p_alive THEN 'gone'
                WHEN p_heartbeat_at < pg_catalog.clock_timestamp() - p_frozen_after THEN 'frozen'
                WHEN p_trouble_kind = 'login' THEN 'no login'
                WHEN p_trouble_kind = 'writes' THEN 'no writes'
                WHEN p_trouble_kind = 'kafka' THEN 'no Kafka'
                WHEN p_drain_by IS NOT NULL THEN 'draining' ELSE COALESCE(p_signalled, 'ok') END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.executor_state(boolean, timestamptz, interval, text, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.executor_state(boolean, timestamptz, interval, text, text, text)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
