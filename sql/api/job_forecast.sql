-- The times of stored schedules that are to come, from `from` until `until`, at most n; job NULL: of all jobs. Only
-- what is enabled. A time that several schedules of a job have is one, with the first of their names. Of each schedule
-- about as many times are computed as it has among the first n, however many schedules there are: each round goes a few
-- times further with those that may have earlier times than the n-th that is known. From now on (`from` NULL) the
-- first time of a schedule is mostly its next_at, which is computed already. A schedule whose zone is gone has none,
-- and a warning names it.
CREATE OR REPLACE FUNCTION lockstep.job_forecast(
    job text DEFAULT NULL, "from" timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, n int DEFAULT 100)
RETURNS TABLE (at timestamptz, job_name text, schedule text, local text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    begins CONSTANT timestamptz := lockstep.rule_after('from', COALESCE(job_forecast."from", clock_timestamp()));
    most CONSTANT int := lockstep.rule_count(job_forecast.n);
    horizon timestamptz := COALESCE(job_forecast.until, 'infinity'); -- a later time is not among the first n
    steps int := 1;
    own_id int;
    unknown_ids int[]; -- schedules of which no time is known
    open_ids int[]; -- schedules that may have more times before the horizon, and their last known one
    open_at timestamptz[];
    gone text[]; -- schedules whose zone is gone, in words
    ids int[] := '{}'; -- the times that are known, and of which schedules and jobs
    times timestamptz[] := '{}';
    jobs int[] := '{}';
    new_ids int[]; -- the same of this round: at most `steps` of a schedule
    new_jobs int[];
    new_times timestamptz[];
BEGIN
    IF job_forecast.job IS NOT NULL THEN
        own_id := (lockstep.job_named(job_forecast.job)).job_id;
    END IF;
    WITH chosen AS MATERIALIZED (
        SELECT s.schedule_id, s.job_id, s.name, s.rule, COALESCE((s.rule).zone, 'UTC') AS zone,
               CASE WHEN job_forecast."from" IS NULL AND s.next_at >= begins THEN s.next_at END AS known
        FROM lockstep.schedule s
        WHERE s.is_active AND (s.rule).kind IS NOT NULL AND (own_id IS NULL OR s.job_id = own_id)),
    zones AS MATERIALIZED ( -- a subtransaction each
        SELECT z.zone, lockstep.rule_fault(z.rule) AS fault
        FROM (SELECT DISTINCT ON (c.zone) c.zone, c.rule FROM chosen c ORDER BY c.zone OFFSET 0) z),
    edge AS MATERIALIZED ( -- later ones of the known times are not among the first n
        SELECT COALESCE(max(k.known), 'infinity') AS at
        FROM (SELECT k.known
              FROM (SELECT DISTINCT c.known, c.job_id
                    FROM chosen c JOIN zones z USING (zone) WHERE z.fault IS NULL AND c.known IS NOT NULL) k
              ORDER BY k.known OFFSET most - 1 LIMIT 1) k),
    first AS (
        SELECT c.schedule_id, c.job_id, c.known
        FROM chosen c JOIN zones z USING (zone)
        WHERE z.fault IS NULL AND c.known <= (SELECT e.at FROM edge e))
    SELECT (SELECT array_agg(c.schedule_id)
            FROM chosen c JOIN zones z USING (zone) WHERE z.fault IS NULL AND c.known IS NULL),
           array_agg(f.schedule_id), array_agg(f.job_id), array_agg(f.known),
           (SELECT array_agg(format('job %s, schedule %s: %s', j.name, c.name, z.fault))
            FROM chosen c JOIN zones z USING (zone) JOIN lockstep.job j USING (job_id) WHERE z.fault IS NOT NULL)
    INTO unknown_ids, new_ids, new_jobs, new_times, gone
    FROM first f;
    FOR i IN 1 .. LEAST(COALESCE(cardinality(gone), 0), 100) LOOP
        RAISE WARNING '%', gone[i];
    END LOOP;
    LOOP
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
              FROM unnest(new_ids, new_times) AS u (id, at) GROUP BY u.id
              UNION ALL
              SELECT u.id, begins - interval '1 microsecond', steps FROM unnest(unknown_ids) AS u (id)) k
        WHERE k.more = steps AND k.last < horizon;
        EXIT WHEN open_ids IS NULL;
        unknown_ids := NULL;
        steps := ceil(most::numeric / cardinality(open_ids));
        SELECT array_agg(s.schedule_id), array_agg(s.job_id), array_agg(t.at) INTO new_ids, new_jobs, new_times
        FROM unnest(open_ids, open_at) AS o (id, at) JOIN lockstep.schedule s ON s.schedule_id = o.id
        CROSS JOIN LATERAL unnest(lockstep.rule_walk(s.rule, o.at, horizon, steps)) AS t (at);
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
