-- The receivers of alerts that monitors have named, and the notices not delivered to each: those that were tried, and
-- those of openings and ends of incidents that no monitor has made. A receiver is forgotten a week after the last look
-- of its last monitor, whose host may be lost for good. Promised to users: a column keeps its name and
-- meaning; new ones go to the end.
CREATE OR REPLACE VIEW lockstep.alert_receiver AS
SELECT r.receiver, r.is_served, u.undelivered, u.undelivered_since, f.error
FROM (SELECT m.receiver, bool_or(lockstep.monitor_lives(p.looked_at, p.every, p.ended_at)) AS is_served
      FROM lockstep.monitor_receiver m JOIN lockstep.monitor_process p USING (who)
      WHERE p.looked_at > clock_timestamp() - interval '7 days' GROUP BY m.receiver) AS r
CROSS JOIN LATERAL (
    SELECT count(*) AS undelivered, min(w.at) AS undelivered_since
    FROM (SELECT n.made_at AS at FROM lockstep.job_notice n
          WHERE n.receiver = r.receiver AND n.delivered_at IS NULL
          UNION ALL
          SELECT a.opened_at FROM lockstep.job_alert a
          WHERE a.closed_at IS NULL AND EXISTS (
                    SELECT FROM lockstep.monitor_receiver m
                    WHERE m.receiver = r.receiver AND a.opened_at <= clock_timestamp() - m.hold
                      AND lockstep.alert_matches(a.job, a.kind, m.jobs, m.kinds))
            AND NOT EXISTS (
                    SELECT FROM lockstep.job_notice n WHERE n.alert_id = a.alert_id AND n.receiver = r.receiver)
          UNION ALL
          SELECT a.closed_at FROM lockstep.job_alert a
          CROSS JOIN LATERAL (
              SELECT count(n.delivered_at) AS notified, count(*) FILTER (WHERE n.notice = 'closed') AS ends
              FROM lockstep.job_notice n WHERE n.alert_id = a.alert_id AND n.receiver = r.receiver) AS l
          WHERE a.closed_at > clock_timestamp() - interval '7 days' AND l.notified > 0 AND l.ends = 0) AS w) AS u
LEFT JOIN LATERAL (
    SELECT n.error FROM lockstep.job_notice n
    WHERE n.receiver = r.receiver AND n.delivered_at IS NULL AND n.error IS NOT NULL
    ORDER BY n.notice_id DESC LIMIT 1) AS f ON true;
GRANT SELECT ON lockstep.alert_receiver TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
