-- explain_check :many  what `check` says of executors: a row each (reason, sentence, helps). A queue without an executor, or whose locks a
-- session has taken, is one if it has work to do.
-- columns: reason, sentence, helps
SELECT DISTINCT ON (e.sentence) e.reason, e.sentence, e.helps
FROM lockstep.queue q CROSS JOIN LATERAL (
    SELECT x.* FROM lockstep.explain_executors(q.queue_id) AS x UNION ALL SELECT x.* FROM lockstep.explain_locks(q.queue_id) AS x) AS e
WHERE NOT lockstep.explain_blind()
  AND (e.reason NOT IN ('no_executor', 'locks_taken') OR EXISTS (SELECT FROM lockstep.run r WHERE r.queue_id = q.queue_id AND r.ended_at IS NULL))
ORDER BY e.sentence;
