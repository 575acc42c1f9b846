-- The incidents of jobs that the monitor found. Promised to users: a column keeps its name and meaning; new ones go to
-- the end.
CREATE OR REPLACE VIEW lockstep.alert AS
SELECT a.alert_id, NULLIF(a.job, '') AS job, a.kind, a.since, a.opened_at, a.last_seen_at, a.text, a.acknowledged_by,
       a.acknowledged_at, a.note, a.closed_at, a.ended
FROM lockstep.job_alert a WHERE a.opened_at IS NOT NULL;
GRANT SELECT ON lockstep.alert TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
