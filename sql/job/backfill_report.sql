-- job_backfill_report :many  what a backfill of job $1 from $2 until $3 would do, of schedule $4 (NULL: all), with
-- overlap $5
-- columns: schedule, scheduled_for, action, detail
SELECT b.schedule_name AS schedule, b.scheduled_for, b.action, b.detail
FROM lockstep.job_backfill(job => $1::text, "from" => $2::timestamptz, "to" => $3::timestamptz,
                           schedule => $4::text, overlap => $5::text, dry_run => true) AS b;
