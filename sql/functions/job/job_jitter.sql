-- How long after p_at the dispatcher looks: the same share of the jitter for a job each time, by its name, and never
-- more than half the way to the next time.
CREATE OR REPLACE FUNCTION lockstep.job_jitter(p_job text, p_schedule lockstep.schedule, p_at timestamptz)
RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p_schedule.jitter = interval '0' OR p_at IS NULL OR (p_schedule.rule).kind IS NULL
                    THEN interval '0'
                ELSE LEAST(p_schedule.jitter * ((pg_catalog.hashtextextended(p_job || '/' || p_schedule.name, 0)
                                                     & 1048575) / 1048576.0)::float8,
                           (lockstep.rule_next(p_schedule.rule, p_at) - p_at) / 2) END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_jitter(text, lockstep.schedule, timestamptz) FROM PUBLIC;
