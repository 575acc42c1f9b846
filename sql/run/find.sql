-- run_find :many  up to three runs between the ids $1 and $2, of queue $3 (NULL: any)
-- columns: run_no, run_id, queue
SELECT r.run_no, r.run_id, q.name AS queue
FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
WHERE r.run_id BETWEEN $1::uuid AND $2::uuid AND ($3::text IS NULL OR q.name = $3::text)
ORDER BY r.run_no DESC LIMIT 3;
