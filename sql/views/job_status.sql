-- Each job and its state. Promised to users: a column keeps its name and meaning; new ones go to the end.
CREATE OR REPLACE VIEW lockstep.job_status AS
SELECT j.name AS job, q.name AS queue,
       CASE WHEN j.is_watch THEN 'watch'
            WHEN j.spec ? 'trigger' THEN 'triggered'
            WHEN s.schedules > 0 THEN 'scheduled' ELSE 'manual' END AS mode,
       j.enabled, s.schedules, s.next_at, o.scheduled_for AS last_scheduled, o.outcome AS last_outcome,
       o.status AS last_status, r.run_id AS open_run, j.overlap, j.version, j.file, j.changed_at, j.changed_by,
       j.declared IS NOT NULL AND j.declared <> j.spec AS drifted, j.spec ->> 'description' AS description
FROM lockstep.job j
LEFT JOIN lockstep.queue q USING (queue_id)
CROSS JOIN LATERAL (
    SELECT count(*) AS schedules, min(b.next_at) FILTER (WHERE b.is_active) AS next_at
    FROM lockstep.schedule b WHERE b.job_id = j.job_id) s
LEFT JOIN LATERAL (
    SELECT b.scheduled_for, b.outcome, b.status
    FROM lockstep.job_occurrence b WHERE b.job_id = j.job_id ORDER BY b.scheduled_for DESC LIMIT 1) o ON true
LEFT JOIN LATERAL (
    SELECT b.run_id FROM lockstep.run b WHERE b.job_id = j.job_id AND b.ended_at IS NULL ORDER BY b.run_no LIMIT 1) r
    ON true;
GRANT SELECT ON lockstep.job_status TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
