-- queue_keep :one  sets the retention of queue $1: runs $2, days $3, failed days $4 (a number, none; NULL: unchanged),
-- or the values of the executors' files if $5; the values that hold now, in words
-- columns: kept, notified
WITH changed AS (
    UPDATE lockstep.queue q
    SET keep_runs = CASE WHEN $5::boolean THEN NULL
                         WHEN $2::text IS NULL THEN q.keep_runs ELSE NULLIF($2::text, 'none')::int END,
        keep_days = CASE WHEN $5::boolean THEN NULL
                         WHEN $3::text IS NULL THEN q.keep_days ELSE NULLIF($3::text, 'none')::int END,
        keep_failed_days = CASE WHEN $5::boolean THEN NULL
                                WHEN $4::text IS NULL THEN q.keep_failed_days ELSE NULLIF($4::text, 'none')::int END,
        keep_set_by = CASE WHEN $5::boolean THEN NULL ELSE session_user END, updated_at = clock_timestamp()
    WHERE q.name = $1::text
    RETURNING q.queue_id, q.keep_runs, q.keep_days, q.keep_failed_days, q.keep_set_by),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_changed', c.queue_id,
           concat_ws(', ', 'keep_runs ' || $2::text, 'keep_days ' || $3::text, 'keep_failed_days ' || $4::text,
                     CASE WHEN $5::boolean THEN 'kept as the file says' END)
    FROM changed c)
SELECT lockstep.keep_words(
    p_runs => c.keep_runs, p_days => c.keep_days, p_failed_days => c.keep_failed_days,
    p_set_by => c.keep_set_by) AS kept,
       pg_notify('lockstep_' || c.queue_id, 'control')::text AS notified
FROM changed c;
