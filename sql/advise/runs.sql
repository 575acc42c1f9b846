-- advise_runs :many  the newest $2 runs of queue $1, among its newest 2,000, that have ended and still have the times of their tasks, while they have at most 300,000
-- columns: run_no, run_id
SELECT r.run_no, r.run_id
FROM (SELECT b.run_no, b.run_id, sum(b.tasks) OVER (ORDER BY b.run_no DESC) AS tasks
      FROM (SELECT n.run_no, n.run_id, n.tasks
            FROM (SELECT k.run_no, k.run_id, k.tasks, k.ended_at, k.swept, k.status FROM lockstep.run k
                  WHERE k.queue_id::bigint BETWEEN $1::int AND $1::int -- by run_newest
                  ORDER BY k.queue_id::bigint DESC, k.run_no DESC LIMIT 2000) n
            WHERE n.ended_at IS NOT NULL AND NOT n.swept AND n.status <> 'Cancelled' AND n.tasks BETWEEN 1 AND 300000
            ORDER BY n.run_no DESC LIMIT $2::int) b) r
WHERE r.tasks <= 300000
ORDER BY r.run_no DESC;
