-- When a job fires in the coming week, for the calendar. quarters: the quarters of an hour since 1970, each with the
-- number of times in it. Of a job that fires more than 170 times only the first 170 count, and `until` is the next one;
-- otherwise it is NULL. A time that several schedules of the job have is one. A schedule whose zone is gone has none.
-- lockstep.job_forecast returns more of each time, but runs five statements a job.
CREATE OR REPLACE FUNCTION lockstep.job_week(p_job_id int, OUT quarters json, OUT until timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    MOST CONSTANT int := 170;
    begins CONSTANT timestamptz := clock_timestamp() - interval '1 microsecond';
    times timestamptz[];
BEGIN
    times := ARRAY(SELECT DISTINCT u.at
                   FROM lockstep.schedule s
                   CROSS JOIN LATERAL unnest(lockstep.rule_walk(s.rule, begins, now() + interval '7 days', MOST + 1))
                       AS u (at)
                   WHERE s.job_id = p_job_id AND s.is_active AND (s.rule).kind IS NOT NULL
                     AND lockstep.rule_fault(s.rule) IS NULL
                   ORDER BY u.at LIMIT MOST + 1);
    until := times[MOST + 1];
    -- a text: json_agg of a JSON array for each of them takes three times as long
    quarters := COALESCE('[' || (SELECT string_agg(concat('[', w.quarter, ',', w.n, ']'), ',' ORDER BY w.quarter)
                                 FROM (SELECT floor(date_part('epoch', t.at) / 900)::bigint AS quarter, count(*) AS n
                                       FROM unnest(times[:MOST]) AS t (at) GROUP BY 1) w) || ']',
                         '[]');
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_week(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_week(int) TO lockstep_operator, lockstep_monitor;
