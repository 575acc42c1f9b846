-- job_test :many  what the next cycle of the dispatcher does with job $1, at $2 (NULL: now); a look has found $3 rows
-- (NULL: none was taken), the oldest $4, the newest $5; its query the rows $6, by schedule
-- columns: schedule, would_fire, verdict, reason, scheduled_for, next_scheduled_run, tasks, pending_rows,
--          oldest_row_age, advice
SELECT t.schedule, t.would_fire, t.verdict, t.reason, t.scheduled_for, t.next_scheduled_run, t.tasks, t.pending_rows,
       t.oldest_row_age, t.advice
FROM lockstep.job_test(job => $1::text, now => $2::timestamptz,
                       look => ROW(NULL, $3::bigint, $4::timestamptz, $5::timestamptz, 0, NULL)::lockstep.rows_look,
                       rows => $6::jsonb) AS t;
