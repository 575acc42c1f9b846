-- advise_larger :one  how many runs advise_phases leaves out, of the newest 2,000 of queue $1, because they have more
-- than $2 tasks
-- columns: runs
SELECT count(*) AS runs
FROM (SELECT k.run_no, k.tasks, k.ended_at, k.swept, k.status, k.reopened_at, k.aborted, k.stop_after
      FROM lockstep.run k
      WHERE k.queue_id::bigint BETWEEN $1::int AND $1::int -- by run_newest
      ORDER BY k.queue_id::bigint DESC, k.run_no DESC LIMIT 2000) n
WHERE n.ended_at IS NOT NULL AND NOT n.swept AND n.status <> 'Cancelled' AND n.reopened_at IS NULL
  AND n.tasks > $2::bigint AND NOT n.aborted
  AND NOT EXISTS (SELECT FROM lockstep.phase k
                  CROSS JOIN LATERAL (SELECT FROM lockstep.task t
                                      WHERE t.phase_id = k.phase_id AND t.status = 'Cancelled' AND t.skipped IS NULL
                                      LIMIT 1) t
                  WHERE k.run_no = n.run_no AND k."order" > n.stop_after);
