-- The times of a job from p_from until p_to, of schedule p_schedule (NULL: of those that are enabled), oldest first.
-- Schedules that have the same time are one: the first by name. More than 1000 are refused.
CREATE OR REPLACE FUNCTION lockstep.job_backfill_times(
    p_job lockstep.job, p_from timestamptz, p_to timestamptz, p_schedule text)
RETURNS TABLE (schedule_id int, at timestamptz) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    MOST CONSTANT int := 1000;
    times int := 0;
BEGIN
    FOR schedule_id, at IN
        WITH RECURSIVE walked AS (
            SELECT s.schedule_id, s.name, s.rule,
                   lockstep.rule_next(s.rule, p_from - interval '1 microsecond') AS at, 1 AS no
            FROM lockstep.schedule s
            WHERE s.job_id = p_job.job_id AND s.after_job IS NULL
              AND CASE WHEN p_schedule IS NULL THEN COALESCE((s.spec ->> 'enabled')::boolean, true)
                       ELSE s.name = p_schedule END
            UNION ALL
            SELECT w.schedule_id, w.name, w.rule, lockstep.rule_next(w.rule, w.at), w.no + 1
            FROM walked w WHERE w.at < p_to AND w.no <= MOST)
        SELECT DISTINCT ON (w.at) w.schedule_id, w.at
        FROM walked w WHERE w.at < p_to ORDER BY w.at, w.name LIMIT MOST + 1
    LOOP
        times := times + 1;
        IF times > MOST THEN
            PERFORM lockstep.job_refuse('to', pg_catalog.format('the range has more than %s times', MOST),
                                        pg_catalog.format('write %s, and continue from there', lockstep.job_time(at)));
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_backfill_times(lockstep.job, timestamptz, timestamptz, text) FROM PUBLIC;
