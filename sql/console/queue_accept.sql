-- console_queue_accept :maybe  accepts the topic of halted queue $1 as it is now, from the cursor, because of $2
-- columns: document, told
WITH changed AS (
    UPDATE lockstep.queue q
    SET halted_reason = NULL, halted_detail = NULL, halted_at = NULL, halt_no = q.halt_no + 1, cluster_id = NULL, partitions = NULL, mark = NULL, marked_at = NULL,
        last_offset = NULL, last_timestamp = NULL, last_digest = NULL, updated_at = clock_timestamp()
    FROM (SELECT b.queue_id, b.halted_reason FROM lockstep.queue b WHERE b.name = $1::text AND b.halted_reason <> 'other_server' FOR UPDATE) AS before
    WHERE q.queue_id = before.queue_id
    RETURNING q.queue_id, before.halted_reason, q.next_offset),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'topic_accepted', c.queue_id, concat_ws(', ', c.halted_reason, 'cursor ' || c.next_offset || ' -> ' || c.next_offset, $2::text) FROM changed c)
SELECT (SELECT to_json(d) FROM (SELECT $1::text AS queue, c.next_offset) AS d) AS document, pg_notify('lockstep_' || c.queue_id, 'control')::text AS told FROM changed c;
