-- queue_hold :maybe  pauses ($2 true) or resumes queue $1 because of $3; no row: no such queue
WITH changed AS (
    UPDATE lockstep.queue q
    SET paused = $2::boolean, paused_by = CASE WHEN $2::boolean THEN session_user END,
        paused_at = CASE WHEN $2::boolean THEN clock_timestamp() END, updated_at = clock_timestamp()
    WHERE q.name = $1::text
    RETURNING queue_id),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT CASE WHEN $2::boolean THEN 'queue_paused' ELSE 'queue_resumed' END, c.queue_id, $3::text
    FROM changed c)
SELECT c.queue_id, pg_notify('lockstep_' || c.queue_id, 'control')::text AS told FROM changed c;
