-- Deletes at most p_rows times of a job that are not kept any more, and adds them to the sums of their days, which
-- nothing else writes. Kept are all of 90 days, the last 1,000 of a schedule, those that failed for p_failed_days,
-- those whose run has not ended, and the newest one that completed: last_success_at and the metrics read it. Returns
-- how many it deleted.
CREATE OR REPLACE FUNCTION lockstep.job_times_sweep(p_job_id int, p_failed_days int, p_rows bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    KEPT CONSTANT int := 1000;
    cutoff CONSTANT timestamptz := pg_catalog.now() - interval '90 days';
    failed_cutoff CONSTANT timestamptz := LEAST(cutoff, pg_catalog.now() - p_failed_days * interval '1 day');
    good CONSTANT bigint := (SELECT o.occurrence_id FROM lockstep.job_occurrence o
        WHERE o.job_id = p_job_id AND o.status = 'Completed' ORDER BY o.scheduled_for DESC LIMIT 1);
    swept bigint;
BEGIN
    WITH kept AS MATERIALIZED (
        SELECT s.schedule_id,
               (SELECT b.scheduled_for
                FROM lockstep.job_occurrence b
                WHERE b.schedule_id = s.schedule_id ORDER BY b.scheduled_for DESC OFFSET KEPT - 1 LIMIT 1) AS oldest
        FROM lockstep.schedule s WHERE s.job_id = p_job_id),
    gone AS (
        DELETE FROM lockstep.job_occurrence o
        WHERE o.occurrence_id = ANY (
                  ARRAY(
                      SELECT b.occurrence_id
                      FROM lockstep.job_occurrence b LEFT JOIN kept k USING (schedule_id)
                      WHERE b.job_id = p_job_id AND b.scheduled_for < cutoff AND b.decided_at < cutoff
                        AND (b.schedule_id IS NULL OR b.scheduled_for < k.oldest)
                        AND b.occurrence_id IS DISTINCT FROM good
                        AND CASE WHEN b.outcome <> 'fired' OR b.status = 'Completed' THEN true
                                 WHEN b.status IS NULL THEN NOT EXISTS (
                                     SELECT FROM lockstep.run r
                                     WHERE r.run_id = b.run_id
                                       AND r.queue_id = (
                                           SELECT j.queue_id FROM lockstep.job j WHERE j.job_id = p_job_id)
                                       AND r.ended_at IS NULL)
                                 ELSE b.decided_at < failed_cutoff END
                      ORDER BY b.scheduled_for LIMIT p_rows))
        RETURNING o.scheduled_for, o.decided_at, o.outcome, o.source, o.status, o.ended_at, o.missed_count),
    added AS (
        INSERT INTO lockstep.job_day_swept
            AS d (job_id, day, times, fired, completed, failed, skipped, missed, errors, passed, duration, longest,
                  latest)
        SELECT p_job_id, (g.scheduled_for AT TIME ZONE 'UTC')::date, pg_catalog.count(*),
               pg_catalog.count(*) FILTER (WHERE g.outcome = 'fired'),
               pg_catalog.count(*) FILTER (WHERE g.status = 'Completed'),
               pg_catalog.count(*) FILTER (WHERE g.status <> 'Completed'),
               pg_catalog.count(*) FILTER (WHERE g.outcome = 'skipped'),
               pg_catalog.count(*) FILTER (WHERE g.outcome = 'missed'),
               pg_catalog.count(*) FILTER (WHERE g.outcome = 'error'), pg_catalog.sum(g.missed_count),
               COALESCE(pg_catalog.sum(g.ended_at - g.decided_at), interval '0'),
               pg_catalog.max(g.ended_at - g.decided_at),
               pg_catalog.max(g.decided_at - g.scheduled_for)
                   FILTER (WHERE g.outcome = 'fired' AND NOT lockstep.is_backfill(g.source))
        FROM gone g
        GROUP BY 2
        ON CONFLICT (job_id, day) DO UPDATE SET
            times = d.times + EXCLUDED.times, fired = d.fired + EXCLUDED.fired,
            completed = d.completed + EXCLUDED.completed, failed = d.failed + EXCLUDED.failed,
            skipped = d.skipped + EXCLUDED.skipped, missed = d.missed + EXCLUDED.missed,
            errors = d.errors + EXCLUDED.errors, passed = d.passed + EXCLUDED.passed,
            duration = d.duration + EXCLUDED.duration, longest = GREATEST(d.longest, EXCLUDED.longest),
            latest = GREATEST(d.latest, EXCLUDED.latest))
    SELECT pg_catalog.count(*) INTO swept FROM gone;
    RETURN swept;
END
$$;
REVOKE EXECUTE ON FUNCTION lockstep.job_times_sweep(int, int, bigint) FROM PUBLIC;
