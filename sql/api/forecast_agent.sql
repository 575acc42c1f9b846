-- The next p_n times after p_after of a row of SQL Server Agent's sysschedules.
CREATE OR REPLACE FUNCTION lockstep.forecast_agent(
    freq_type int, freq_interval int, freq_subday_type int, freq_subday_interval int, freq_relative_interval int,
    freq_recurrence_factor int, active_start_date int, active_end_date int, active_start_time int, active_end_time int,
    after timestamptz DEFAULT CURRENT_TIMESTAMP, n int DEFAULT 5, zone text DEFAULT 'UTC')
RETURNS SETOF timestamptz LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT lockstep.forecast(jsonb_strip_nulls(
                                 jsonb_build_object(
                                     'kind', 'calendar', 'zone', zone, 'freq_type', freq_type,
                                     'freq_interval', freq_interval, 'freq_subday_type', freq_subday_type,
                                     'freq_subday_interval', freq_subday_interval,
                                     'freq_relative_interval', freq_relative_interval,
                                     'freq_recurrence_factor', freq_recurrence_factor,
                                     'active_start_date', active_start_date, 'active_end_date', active_end_date,
                                     'active_start_time', active_start_time, 'active_end_time', active_end_time)),
                             after, n)
$$;
REVOKE EXECUTE ON FUNCTION lockstep.forecast_agent(
    int, int, int, int, int, int, int, int, int, int, timestamptz, int, text)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.forecast_agent(
    int, int, int, int, int, int, int, int, int, int, timestamptz, int, text)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
