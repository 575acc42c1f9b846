-- The times of stored schedules that are to come, from `from` until `until`, at most n; job NULL: of all jobs. Only
-- what is enabled. A time that several schedules of a job have is one, with the first of their names. Of each schedule
-- about as many times are computed as it has among the first n, however many schedules there are: each round goes a few
-- times further with those that may have earlier times than the n-th that is known. A schedule whose zone is gone has
-- none, and a warning names it.
CREATE OR REPLACE FUNCTION lockstep.job_forecast(
    job text DEFAULT NULL, "from" timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, n int DEFAULT 100)
RETURNS TABLE (at timestamptz, job_name text, schedule text, local text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    begins CONSTANT timestamptz := lockstep.rule_after('from', COALESCE(job_forecast."from", clock_timestamp()));
    most CONSTANT int := lockstep.rule_count(job_forecast.n);
    horizon timestamptz := COALESCE(job_forecast.until, 'infinity'); -- a later time is not among the first n
    steps int;
    open_ids int[]; -- schedules that may have more times before the horizon, and their last known one
    open_at timestamptz[];
    gone text[]; -- schedules whose zone is gone, in words
    ids int[] := '{}'; -- the times that are known, and of which schedules and jobs
    times timestamptz[] := '{}';
    jobs int[] := '{}';
    new_ids int[];
    new_jobs int[];
    new_times timestamptz[];
BEGIN
    IF job_forecast.job IS NOT NULL THEN
        PERFORM lockstep.job_named(job_forecast.job);
    END IF;
    SELECT array_agg(c.schedule_id) FILTER (WHERE c.fault IS NULL),
           array_agg(begins - interval '1 microsecond') FILTER (WHERE c.fault IS NULL),
           array_agg(format('job %s, schedule %s: %s', c.job, c.name, c.fault)) FILTER (WHERE c.fault IS NOT NULL)
    INTO open_ids, open_at, gone
    FROM (SELECT s.schedule_id, j.name AS job, s.name,
                 CASE WHEN (s.rule).zone <> 'UTC' THEN lockstep.rule_fault(s.rule) END AS fault -- a subtransaction each
          FROM lockstep.schedule s JOIN lockstep.job j USING (job_id)
          WHERE s.is_active AND (s.rule).kind IS NOT NULL
            AND (job_forecast.job IS NULL OR j.name = job_forecast.job)) c;
    FOR i IN 1 .. LEAST(COALESCE(cardinality(gone), 0), 100) LOOP
        RAISE WARNING '%', gone[i];
    END LOOP;
    WHILE cardinality(open_ids) > 0 LOOP
        steps := ceil(most::numeric / cardinality(open_ids));
        SELECT array_agg(s.schedule_id), array_agg(s.job_id), array_agg(t.at) INTO new_ids, new_jobs, new_times
        FROM unnest(open_ids, open_at) AS o (id, at) JOIN lockstep.schedule s ON s.schedule_id = o.id
        CROSS JOIN LATERAL unnest(lockstep.rule_walk(s.rule, o.at, horizon, steps)) AS t (at);
        ids := ids || new_ids;
        jobs := jobs || new_jobs;
        times := times || new_times;
        horizon := LEAST(horizon,
                         (SELECT t.at
                          FROM (SELECT DISTINCT k.at, k.of_job FROM unnest(jobs, times) AS k (of_job, at)) t
                          ORDER BY t.at OFFSET most - 1 LIMIT 1)
                         + interval '1 microsecond');
        SELECT array_agg(k.id), array_agg(k.last) INTO open_ids, open_at
        FROM (SELECT u.id, max(u.at) AS last, count(*) AS more
              FROM unnest(new_ids, new_times) AS u (id, at) GROUP BY u.id) k
        WHERE k.more = steps AND k.last < horizon;
    END LOOP;
    RETURN QUERY
    SELECT DISTINCT ON (k.at, j.name) k.at, j.name, s.name,
                                      to_char(k.at AT TIME ZONE (s.rule).zone, 'Dy YYYY-MM-DD HH24:MI:SS')
    FROM unnest(ids, times) AS k (id, at)
    JOIN lockstep.schedule s ON s.schedule_id = k.id JOIN lockstep.job j USING (job_id)
    WHERE k.at < horizon ORDER BY k.at, j.name, s.name LIMIT most;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_forecast(text, timestamptz, timestamptz, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_forecast(text, timestamptz, timestamptz, int)
    TO lockstep_operator, lockstep_producer, lockstep_monitor, lockstep_executor;
