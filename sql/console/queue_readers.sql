-- console_queue_readers :maybe  gives queue $1 at most $2 readers, because of $3
-- columns: document, told
WITH changed AS (
    UPDATE lockstep.queue q SET max_readers = $2::int, updated_at = clock_timestamp() WHERE q.name = $1::text RETURNING q.queue_id, q.max_readers),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail) SELECT 'queue_changed', c.queue_id, concat_ws(': ', 'max_readers ' || c.max_readers, $3::text) FROM changed c)
SELECT (SELECT to_json(d) FROM (SELECT $1::text AS queue, c.max_readers) AS d) AS document, pg_notify('lockstep_' || c.queue_id, 'control')::text AS told FROM changed c;
