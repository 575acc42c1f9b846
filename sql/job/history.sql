-- job_history :many  late and seconds in seconds; the newest $2 occurrences of job $1 (NULL: of all), the newest last
-- columns: job, schedule, scheduled_for, fired_at, late, outcome, status, source, reason, run_id, ended_at, seconds, missed_from, missed_count, dispatcher
SELECT h.job, h.schedule, h.scheduled_for, h.fired_at, round(extract(epoch FROM h.lateness)::numeric, 3) AS late, h.outcome, h.status, h.source, h.reason, h.run_id, h.ended_at,
       round(extract(epoch FROM h.duration)::numeric, 3) AS seconds, h.missed_from, h.missed_count, h.dispatcher
FROM (SELECT o.* FROM lockstep.occurrence o WHERE $1::text IS NULL OR o.job = $1::text ORDER BY o.occurrence_id DESC LIMIT $2::bigint) AS h ORDER BY h.occurrence_id;
