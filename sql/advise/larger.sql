-- advise_larger :one  how many runs advise_phases leaves out, of the newest 2,000 of queue $1, because they have more
-- than $2 tasks
-- columns: runs
SELECT count(*) AS runs
FROM (SELECT k.tasks, k.ended_at, k.swept, k.status, k.reopened_at FROM lockstep.run k
      WHERE k.queue_id::bigint BETWEEN $1::int AND $1::int -- by run_newest
      ORDER BY k.queue_id::bigint DESC, k.run_no DESC LIMIT 2000) n
WHERE n.ended_at IS NOT NULL AND NOT n.swept AND n.status <> 'Cancelled' AND n.reopened_at IS NULL
  AND n.tasks > $2::bigint;
