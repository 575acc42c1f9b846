-- job_backfill :many  fires the times of job $1 from $2 until $3 that have not fired, of schedule $4 (NULL: all), with
-- overlap $5; only those behind $6 (NULL: all), whose fate the caller knows. A row with the action ask has a token with
-- which the caller runs the query
-- columns: schedule, scheduled_for, action, detail, run_id, token, query, words
-- words of action: fire, wait, skip, leave, ask
SELECT b.schedule_name AS schedule, b.scheduled_for, b.action, b.detail, b.run_id, b.token, b.query, b.words
FROM lockstep.job_backfill_ask(p_job => $1::text, p_from => $2::timestamptz, p_to => $3::timestamptz,
                               p_schedule => $4::text, p_overlap => $5::text, p_behind => $6::timestamptz) AS b;
