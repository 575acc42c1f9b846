-- control_held :many  the runs of queue $1 that an operator holds: number, id as their messages name it ('' for the
-- implicit run), and whether what lies behind their messages waits for them, too
-- columns: run_no, run_id, stops
SELECT r.run_no, CASE WHEN r.run_no IS DISTINCT FROM q.implicit_run_no THEN r.run_id::text ELSE '' END AS run_id,
       r.implicit OR q.runs = 'serial' AS stops
FROM lockstep.run r JOIN lockstep.queue q USING (queue_id)
WHERE r.queue_id = $1::int AND r.ended_at IS NULL AND r.paused_by IS NOT NULL;
