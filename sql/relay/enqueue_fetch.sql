-- relay_enqueue_fetch :many  the next enqueued runs of queue $1, about $2 bytes: enqueue_id, run, value of each record
-- columns: enqueue_id, run_id, value
SELECT f.enqueue_id, f.run_id, m.value
FROM (SELECT e.enqueue_id, e.run_id, e.messages,
             sum(e.bytes) OVER (ORDER BY e.enqueue_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM (SELECT enqueue_id, run_id, messages, bytes FROM lockstep.enqueued WHERE queue_id = $1::int ORDER BY enqueue_id LIMIT 500) e) f
CROSS JOIN LATERAL unnest(f.messages) WITH ORDINALITY AS m (value, n)
WHERE COALESCE(f.before, 0) < $2::bigint
ORDER BY f.enqueue_id, m.n;
