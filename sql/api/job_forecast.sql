-- The times of stored schedules that are to come, from `from` until `until`, at most n; job NULL: of all jobs. Only what is enabled.
CREATE OR REPLACE FUNCTION lockstep.job_forecast(job text DEFAULT NULL, "from" timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, n int DEFAULT 100)
RETURNS TABLE (at timestamptz, job_name text, schedule text, local text) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    beginning CONSTANT timestamptz := COALESCE(job_forecast."from", clock_timestamp());
    MOST CONSTANT int := 100000;
BEGIN
    IF job_forecast.job IS NOT NULL THEN
        PERFORM lockstep.job_named(job_forecast.job);
    END IF;
    IF job_forecast.n NOT BETWEEN 1 AND MOST THEN
        PERFORM lockstep.rule_refuse('value', format('n: %s is not in the range', job_forecast.n), format('write 1 to %s', MOST));
    END IF;
    RETURN QUERY
    WITH RECURSIVE times AS (
        SELECT j.name, s.name AS schedule, s.rule, lockstep.rule_next(s.rule, beginning - interval '1 microsecond') AS at, 1 AS no
        FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
        WHERE s.is_active AND (s.rule).kind IS NOT NULL AND (job_forecast.job IS NULL OR j.name = job_forecast.job)
        UNION ALL
        SELECT t.name, t.schedule, t.rule, lockstep.rule_next(t.rule, t.at), t.no + 1 FROM times t
        WHERE t.at IS NOT NULL AND t.at < COALESCE(job_forecast.until, 'infinity') AND t.no < job_forecast.n)
    SELECT t.at, t.name, t.schedule, to_char(t.at AT TIME ZONE (t.rule).zone, 'Dy YYYY-MM-DD HH24:MI:SS') FROM times t
    WHERE t.at < COALESCE(job_forecast.until, 'infinity') ORDER BY t.at, t.name, t.schedule LIMIT job_forecast.n;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_forecast(text, timestamptz, timestamptz, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_forecast(text, timestamptz, timestamptz, int) TO lockstep_operator, lockstep_producer, lockstep_monitor, lockstep_executor;
