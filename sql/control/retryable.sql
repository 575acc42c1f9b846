-- control_retryable :many  the runs of queue $1 (NULL: all) with status $2 and a name like $3 (NULL: any), the newest
-- $4, in log order
-- columns: run_id, queue
SELECT v.run_id, v.queue
FROM (SELECT b.run_id, q.name AS queue, q.queue_id, b.first_offset, b.run_no
      FROM lockstep.queue q CROSS JOIN LATERAL (
          SELECT r.run_id, r.first_offset, r.run_no FROM lockstep.run r
          WHERE r.queue_id::bigint BETWEEN q.queue_id AND q.queue_id -- by run_newest
            AND r.status = $2::text AND NOT r.swept AND ($3::text IS NULL OR r.name LIKE $3::text)
          ORDER BY r.queue_id::bigint DESC, r.run_no DESC LIMIT $4::bigint) b
      WHERE $1::text IS NULL OR q.name = $1::text
      ORDER BY b.run_no DESC LIMIT $4::bigint) v
ORDER BY v.queue_id, v.first_offset;
