-- console_redrive_select :many  rejected messages, the oldest first: those of ids $1, or those that $2 describes
-- ({queue, run, reason_is}), and if $3 those that were redriven, too. is_too_much: they are more than 1,000, or more
-- than 16 MiB; their text is not read then
-- columns: rejected_id, raw, is_too_much
WITH chosen AS (
    (SELECT m.rejected_id, octet_length(m.raw) AS size FROM lockstep.rejected_message m
     WHERE $1::bigint[] IS NOT NULL AND m.rejected_id = ANY ($1::bigint[]) ORDER BY m.rejected_id LIMIT 1001)
    UNION ALL
    (SELECT m.rejected_id, octet_length(m.raw) FROM lockstep.rejected_message m
     WHERE $1::bigint[] IS NULL
       AND ($2::json ->> 'queue' IS NULL
            OR m.queue_id = (SELECT q.queue_id FROM lockstep.queue q WHERE q.name = $2::json ->> 'queue'))
       AND ($2::json ->> 'run' IS NULL
            OR m.run_no = ANY (ARRAY(SELECT r.run_no FROM lockstep.run r WHERE r.run_id = ($2::json ->> 'run')::uuid)))
       AND ($2::json ->> 'reason_is' IS NULL OR m.reason = $2::json ->> 'reason_is')
       AND (m.reason <> 'duplicate' OR $2::json ->> 'reason_is' = 'duplicate') -- of a duplicate the first one was taken
       AND ($3::boolean
            OR m.redriven_at IS NULL AND NOT lockstep.redrive_made(m.queue_id, m.redrive_noted))
     ORDER BY m.rejected_id LIMIT 1001)),
judged AS (
    SELECT c.rejected_id, COALESCE(sum(c.size) OVER (), 0) > 16 * 1024 * 1024 OR count(*) OVER () > 1000 AS is_too_much
    FROM chosen c)
SELECT j.rejected_id, CASE WHEN NOT j.is_too_much THEN m.raw END AS raw, j.is_too_much
FROM judged j JOIN lockstep.rejected_message m ON m.rejected_id = j.rejected_id
WHERE m.rejected_id = ANY (ARRAY(SELECT b.rejected_id FROM judged b))
ORDER BY j.rejected_id;
