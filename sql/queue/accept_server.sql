-- queue_accept_server :maybe  an operator accepts the server on which queue $1 is now, because of $2; no row: there is
-- no such queue, or it was worked on by this server. An executor may not have halted it yet.
-- columns: document, next_offset, notified
WITH changed AS (
    UPDATE lockstep.queue q
    SET halted_reason = NULL, halted_detail = NULL, halted_at = NULL, server_system = NULL, server_database = NULL,
        server_timeline = NULL, halt_no = q.halt_no + 1, updated_at = clock_timestamp()
    FROM (SELECT b.queue_id, b.halted_detail FROM lockstep.queue b
          WHERE b.name = $1::text AND lockstep.queue_is_copy(b) FOR NO KEY UPDATE) AS before
    WHERE q.queue_id = before.queue_id
    RETURNING q.queue_id, before.halted_detail, q.next_offset),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'server_accepted', c.queue_id, concat_ws(', ', $2::text, c.halted_detail) FROM changed c)
SELECT (SELECT to_json(d) FROM (SELECT $1::text AS queue, c.next_offset) AS d) AS document, c.next_offset,
       pg_notify('lockstep_' || c.queue_id, 'control')::text AS notified
FROM changed c;
