-- console_queue_readers :maybe  gives queue $1 at most $2 readers, because of $3; changed: it had another number
-- columns: document, notified
-- of two at once the second finds the change of the first
WITH own AS MATERIALIZED (
    SELECT q.queue_id, q.max_readers FROM lockstep.queue q WHERE q.name = $1::text FOR NO KEY UPDATE),
changed AS (
    UPDATE lockstep.queue q SET max_readers = $2::int, updated_at = clock_timestamp()
    FROM own o WHERE q.queue_id = o.queue_id AND o.max_readers <> $2::int RETURNING q.queue_id),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'queue_changed', c.queue_id, concat_ws(': ', 'max_readers ' || $2::int, $3::text) FROM changed c)
SELECT (SELECT to_json(d)
        FROM (SELECT $1::text AS queue, $2::int AS max_readers, c.queue_id IS NOT NULL AS changed) AS d) AS document,
       CASE WHEN c.queue_id IS NOT NULL THEN pg_notify('lockstep_' || c.queue_id, 'control')::text END AS notified
FROM own o LEFT JOIN changed c USING (queue_id);
