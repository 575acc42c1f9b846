-- The notices of each incident that were sent, or are to be sent, each with its receiver, an [alert:NAME]. Promised to
-- users: a column keeps its name and meaning; new ones go to the end.
CREATE OR REPLACE VIEW lockstep.alert_notice AS
SELECT n.alert_id, n.receiver, n.notice, n.number, n.made_at, n.attempts, n.delivered_at,
       CASE WHEN n.delivered_at IS NULL THEN n.due_at END AS next_attempt_at, n.error, n.by_whom AS sent_by, n.notice_id
FROM lockstep.job_notice n;
GRANT SELECT ON lockstep.alert_notice TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
