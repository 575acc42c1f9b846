-- queue_keep :one  what queue $1 tells: events $2 (on, off); and keeps: runs $3, days $4, failed days $5 (a number, none), or as the executors' files say $6;
-- NULL: as it is; what holds now, in words
WITH changed AS (
    UPDATE lockstep.queue q
    SET events = COALESCE($2::text::boolean, q.events),
        keep_runs = CASE WHEN $6::boolean THEN NULL WHEN $3::text IS NULL THEN q.keep_runs ELSE NULLIF($3::text, 'none')::int END,
        keep_days = CASE WHEN $6::boolean THEN NULL WHEN $4::text IS NULL THEN q.keep_days ELSE NULLIF($4::text, 'none')::int END,
        keep_failed_days = CASE WHEN $6::boolean THEN NULL WHEN $5::text IS NULL THEN q.keep_failed_days ELSE NULLIF($5::text, 'none')::int END,
        keep_set_by = CASE WHEN $6::boolean THEN NULL WHEN COALESCE($3::text, $4::text, $5::text) IS NOT NULL THEN session_user
                           ELSE q.keep_set_by END,
        updated_at = clock_timestamp()
    WHERE q.name = $1::text
    RETURNING q.queue_id, q.events, q.keep_runs, q.keep_days, q.keep_failed_days, q.keep_set_by),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_changed', c.queue_id,
           concat_ws(', ', 'events ' || $2::text, 'keep_runs ' || $3::text, 'keep_days ' || $4::text,
                     'keep_failed_days ' || $5::text, CASE WHEN $6::boolean THEN 'kept as the file says' END)
    FROM changed c)
SELECT CASE WHEN c.events THEN 'on' ELSE 'off' END AS events,
       lockstep.keep_words(c.keep_runs, c.keep_days, c.keep_failed_days, c.keep_set_by) AS kept,
       pg_notify('lockstep_' || c.queue_id, 'control')::text AS told
FROM changed c;
