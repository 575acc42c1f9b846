-- job_filled :many  what became of the times of job $1 from $2 until $3, of schedule $4 (NULL: all)
-- columns: schedule, scheduled_for, outcome, status, source, reason, run_id
SELECT o.schedule, o.scheduled_for, o.outcome, o.status, o.source, o.reason, o.run_id
FROM lockstep.occurrence o
WHERE o.job = $1::text AND o.scheduled_for >= $2::timestamptz AND o.scheduled_for < $3::timestamptz
  AND o.schedule IS NOT NULL AND ($4::text IS NULL OR o.schedule = $4::text)
ORDER BY o.scheduled_for, o.schedule;
