-- job_backfill :many  fires the times of job $1 from $2 until $3 that have not fired, of schedule $4 (NULL: all), with
-- overlap $5; $6 only reports
-- columns: schedule, scheduled_for, action, detail, run_id
-- words of action: fire, wait, skip, leave
SELECT b.schedule_name AS schedule, b.scheduled_for, b.action, b.detail, b.run_id
FROM lockstep.job_backfill(job => $1::text, "from" => $2::timestamptz, until => $3::timestamptz,
                           schedule => $4::text, overlap => $5::text, dry_run => $6::boolean) AS b;
