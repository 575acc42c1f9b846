-- The outcomes of the times of each job, by day (UTC): sums of those that are kept and of those that were swept.
-- Promised to users: a column keeps its name and meaning; new ones go to the end.
CREATE OR REPLACE VIEW lockstep.job_day AS
SELECT j.name AS job, d.day, sum(d.times)::bigint AS times, sum(d.fired)::bigint AS fired,
       sum(d.completed)::bigint AS completed, sum(d.failed)::bigint AS failed, sum(d.skipped)::bigint AS skipped,
       sum(d.missed)::bigint AS missed, sum(d.errors)::bigint AS errors, sum(d.passed)::bigint AS passed,
       sum(d.duration) AS duration, max(d.longest) AS longest, max(d.latest) AS latest
FROM (
    SELECT w.job_id, w.day, w.times, w.fired, w.completed, w.failed, w.skipped, w.missed, w.errors, w.passed,
           w.duration, w.longest, w.latest
    FROM lockstep.job_day_swept w
    UNION ALL
    -- of the types of the table above, so that the planner goes by an index of each for the days of one job
    SELECT o.job_id, (o.scheduled_for AT TIME ZONE 'UTC')::date, 1::bigint, (o.outcome = 'fired')::int::bigint,
           COALESCE(o.status = 'Completed', false)::int::bigint, COALESCE(o.status <> 'Completed', false)::int::bigint,
           (o.outcome = 'skipped')::int::bigint, (o.outcome = 'missed')::int::bigint,
           (o.outcome = 'error')::int::bigint, o.missed_count::bigint,
           COALESCE(o.ended_at - o.decided_at, interval '0'), o.ended_at - o.decided_at,
           CASE WHEN o.outcome = 'fired' AND NOT lockstep.is_backfill(o.source) THEN o.decided_at - o.scheduled_for END
    FROM lockstep.job_occurrence o) d
JOIN lockstep.job j USING (job_id)
GROUP BY j.name, d.day;
GRANT SELECT ON lockstep.job_day TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
