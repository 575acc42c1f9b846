-- queue_check :one  what `check` looks at of queue $1
-- columns: halted_reason, halted_detail, remedy, halted_at, partitions, mark, paused, paused_by
SELECT q.halted_reason, q.halted_detail, lockstep.halt_remedy(q.queue_id) AS remedy,
       to_char(q.halted_at, 'YYYY-MM-DD HH24:MI:SS') AS halted_at, COALESCE(q.partitions, 0) AS partitions,
       CASE WHEN q.marked_at IS NOT NULL THEN q.mark END AS mark, q.paused, q.paused_by
FROM lockstep.queue q
WHERE q.queue_id = $1::int;
