-- queue_retry :maybe  lifts the halt of queue $1, because of $2: executors check its topic again, by the same identity;
-- no row: it is not halted
-- columns: halted_reason, notified
WITH changed AS (
    UPDATE lockstep.queue q
    SET halted_reason = NULL, halted_detail = NULL, halted_at = NULL, halt_no = q.halt_no + 1, unknown_at = NULL,
        updated_at = clock_timestamp()
    FROM (SELECT b.queue_id, b.halted_reason FROM lockstep.queue b
          WHERE b.name = $1::text AND b.halted_reason IS NOT NULL FOR NO KEY UPDATE) AS before
    WHERE q.queue_id = before.queue_id
    RETURNING q.queue_id, before.halted_reason),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'halt_lifted', c.queue_id, concat_ws(', ', c.halted_reason, $2::text) FROM changed c)
SELECT c.halted_reason, pg_notify('lockstep_' || c.queue_id, 'control')::text AS notified FROM changed c;
