-- console_job_test :one  what the next cycle of the dispatcher does with job $1, and why, as if it were $2 (NULL: now);
-- tasks only if $3
-- columns: document
SELECT json_build_object('items', COALESCE(
                             json_agg(json_build_object(
                                          'schedule', t.schedule, 'would_fire', t.would_fire, 'verdict', t.verdict,
                                          'reason', t.reason, 'scheduled_for', t.scheduled_for,
                                          'next_scheduled_run', t.next_scheduled_run,
                                          'tasks', CASE WHEN $3::boolean THEN t.tasks END,
                                          'pending_rows', t.pending_rows,
                                          'oldest_row_age', lockstep.seconds(t.oldest_row_age), 'advice', t.advice)),
                             '[]'::json)) AS document
FROM lockstep.job_test($1::text, $2::timestamptz) AS t;
