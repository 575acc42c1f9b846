-- relay_enqueue_fetch :many  the next enqueued runs of queue $1, about $2 bytes: enqueue_id, run, value of each record
-- columns: enqueue_id, run_id, value
SELECT f.enqueue_id, f.run_id, m.value
FROM (SELECT e.enqueue_id, e.run_id, e.messages,
             sum(e.bytes) OVER (ORDER BY e.enqueue_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM (SELECT q.enqueue_id, q.run_id, q.messages, q.bytes FROM lockstep.enqueued q WHERE q.queue_id = $1::int
            -- one that the topic has already is taken away when the relay begins next
            AND NOT EXISTS (SELECT FROM lockstep.enqueue_undone u WHERE u.queue_id = q.queue_id AND u.run_id = q.run_id)
            ORDER BY q.enqueue_id LIMIT 500) e) f
CROSS JOIN LATERAL unnest(f.messages) WITH ORDINALITY AS m (value, n)
WHERE COALESCE(f.before, 0) < $2::bigint
ORDER BY f.enqueue_id, m.n;
