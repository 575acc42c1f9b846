-- Whether a monitor that looked last at p_looked_at still looks: it has within three of its intervals, or two minutes
-- if that is longer. A look of the future is from before the clock was set back.
CREATE OR REPLACE FUNCTION lockstep.monitor_lives(p_looked_at timestamptz, p_every interval, p_ended_at timestamptz)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT p_ended_at IS NULL AND p_looked_at < pg_catalog.clock_timestamp() + interval '10 seconds'
       AND p_looked_at >= pg_catalog.clock_timestamp() - GREATEST(interval '2 minutes', 3 * p_every)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.monitor_lives(timestamptz, interval, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.monitor_lives(timestamptz, interval, timestamptz)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
