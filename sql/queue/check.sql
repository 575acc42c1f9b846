-- queue_check :one  what `check` looks at of queue $1; is_well: nothing was said of it yet
-- columns: is_well, partitions, mark
SELECT q.halted_at IS NULL AND NOT q.paused AS is_well, COALESCE(q.partitions, 0) AS partitions,
       CASE WHEN q.marked_at IS NOT NULL THEN q.mark END AS mark
FROM lockstep.queue q
WHERE q.queue_id = $1::int;
