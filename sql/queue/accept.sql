-- queue_accept :maybe  an operator accepts the topic of halted queue $1 as it is now, from offset $2 (NULL: from the
-- cursor), because of $3; its topic has $4 partitions (NULL: an executor will note it); no row: there is no such queue,
-- or it is not halted. A cursor that is set back begins a new epoch.
-- columns: is_now, notified
WITH changed AS (
    UPDATE lockstep.queue q
    SET halted_reason = NULL, halted_detail = NULL, halted_at = NULL, halt_no = q.halt_no + 1, cluster_id = NULL,
        partitions = $4::int, mark = NULL, marked_at = NULL, last_offset = NULL, last_timestamp = NULL,
        last_digest = NULL, next_offset = COALESCE($2::bigint, q.next_offset),
        epoch = q.epoch + CASE WHEN $2::bigint < q.next_offset THEN 1 ELSE 0 END,
        unknown_at = CASE WHEN $2::bigint IS NULL THEN q.unknown_at END, updated_at = clock_timestamp()
    FROM (SELECT b.queue_id, b.halted_reason, b.next_offset FROM lockstep.queue b
          WHERE b.name = $1::text AND b.halted_reason <> 'other_server' FOR NO KEY UPDATE) AS before
    WHERE q.queue_id = before.queue_id
    RETURNING q.queue_id, before.halted_reason, before.next_offset AS was, q.next_offset AS is_now),
logged AS (
    INSERT INTO lockstep.event_log (event, queue_id, detail)
    SELECT 'topic_accepted', c.queue_id,
           concat_ws(', ', c.halted_reason, 'cursor ' || c.was || ' -> ' || c.is_now, $3::text)
    FROM changed c)
SELECT c.is_now, pg_notify('lockstep_' || c.queue_id, 'control')::text AS notified FROM changed c;
