-- The cause of a run of this schedule, in words, as the run and the log keep it.
CREATE OR REPLACE FUNCTION lockstep.job_source(p_schedule lockstep.schedule, p_missed_count int) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_missed_count > 0 THEN
        RETURN pg_catalog.format('misfire of schedule %s, for %s', p_schedule.name, p_missed_count + 1);
    ELSIF p_schedule.after_job IS NULL THEN
        RETURN 'schedule ' || p_schedule.name;
    END IF;
    RETURN (SELECT pg_catalog.format('after %s%s', j.name,
                                     (SELECT ' (' || o.status || ')'
                                      FROM lockstep.job_occurrence o
                                      WHERE o.job_id = j.job_id AND o.status IS NOT NULL
                                        AND o.scheduled_for <= COALESCE(p_schedule.queued_for, p_schedule.next_at)
                                      ORDER BY o.scheduled_for DESC LIMIT 1))
            FROM lockstep.job j WHERE j.job_id = p_schedule.after_job);
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_source(lockstep.schedule, int) FROM PUBLIC;
