-- run_latest :maybe  the newest run, of queue $1 (NULL: any)
-- columns: run_no, run_id, queue
SELECT r.run_no, r.run_id, q.name AS queue
FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
WHERE $1::text IS NULL OR q.name = $1::text
ORDER BY r.run_no DESC LIMIT 1;
