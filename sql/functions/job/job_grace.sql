-- How late a schedule may be before a person should act: its grace; without one a tenth of the way to the next time, at
-- least a minute and at most an hour, and its jitter.
CREATE OR REPLACE FUNCTION lockstep.job_grace(p_schedule lockstep.schedule, p_at timestamptz) RETURNS interval
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT COALESCE(p_schedule.grace,
                    LEAST(GREATEST(CASE WHEN (p_schedule.rule).kind IS NOT NULL
                                             AND lockstep.rule_fault(p_schedule.rule) IS NULL
                                            THEN (lockstep.rule_next(p_schedule.rule, p_at) - p_at) / 10 END,
                                   interval '1 minute'),
                          interval '1 hour'))
           + p_schedule.jitter
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_grace(lockstep.schedule, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION lockstep.job_grace(lockstep.schedule, timestamptz)
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
