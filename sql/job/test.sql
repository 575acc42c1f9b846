-- job_test :many  what the next cycle of the dispatcher does with job $1, at $2 (NULL: now)
-- columns: schedule, would_fire, verdict, reason, scheduled_for, next_scheduled_run, tasks
SELECT t.schedule, t.would_fire, t.verdict, t.reason, t.scheduled_for, t.next_scheduled_run, t.tasks FROM lockstep.job_test($1::text, $2::timestamptz) AS t;
