-- The events of jobs: fired, skipped, missed, completed, error, zombie, changed. Promised to users: a column keeps its
-- name and meaning; new ones go to the end.
CREATE OR REPLACE VIEW lockstep.job_log AS
SELECT e.job, e.at, e.event, e.source, e.message, e.run_id, e.duration, e.job_event_id, e.rows
FROM lockstep.job_event e;
GRANT SELECT ON lockstep.job_log TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
