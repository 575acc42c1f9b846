-- run_latest :maybe  the newest run, of queue $1 (NULL: any)
-- columns: run_no, run_id, queue
SELECT r.run_no, r.run_id, q.name AS queue
FROM lockstep.queue q CROSS JOIN LATERAL (
    -- by run_newest
    SELECT b.run_no, b.run_id FROM lockstep.run b WHERE b.queue_id::bigint BETWEEN q.queue_id AND q.queue_id
    ORDER BY b.queue_id::bigint DESC, b.run_no DESC LIMIT 1) r
WHERE $1::text IS NULL OR q.name = $1::text
ORDER BY r.run_no DESC LIMIT 1;
