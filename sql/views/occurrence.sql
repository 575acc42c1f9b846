-- The outcome of each time of each job. Promised to users: a column keeps its name and meaning; new ones go to the end.
CREATE OR REPLACE VIEW lockstep.occurrence AS
SELECT j.name AS job, s.name AS schedule, o.scheduled_for,
       CASE WHEN o.outcome = 'fired' THEN o.decided_at END AS fired_at,
       CASE WHEN o.outcome = 'fired' AND NOT lockstep.is_backfill(o.source) THEN o.decided_at - o.scheduled_for END
           AS lateness,
       o.outcome, o.source, o.reason, o.run_id, COALESCE(o.status, r.status) AS status, o.ended_at,
       o.ended_at - o.decided_at AS duration, o.missed_from, o.missed_count, o.dispatcher, o.occurrence_id, o.rows,
       (SELECT max(t.attempt_num)
        FROM lockstep.phase p JOIN lockstep.task t USING (phase_id) WHERE p.run_no = r.run_no) AS attempts
FROM lockstep.job_occurrence o
JOIN lockstep.job j USING (job_id)
LEFT JOIN lockstep.schedule s USING (schedule_id)
LEFT JOIN lockstep.run r ON r.run_id = o.run_id AND r.queue_id = j.queue_id;
GRANT SELECT ON lockstep.occurrence TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
