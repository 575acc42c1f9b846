-- queue_events :one  queue $1 publishes the events of its runs, or does not: $2 (on, off)
-- columns: events, notified
WITH changed AS (
    UPDATE lockstep.queue q SET events = $2::text::boolean, updated_at = clock_timestamp()
    WHERE q.name = $1::text RETURNING q.queue_id, q.events),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_changed', c.queue_id, 'events ' || $2::text FROM changed c)
SELECT CASE WHEN c.events THEN 'on' ELSE 'off' END AS events,
       pg_notify('lockstep_' || c.queue_id, 'control')::text AS notified
FROM changed c;
