-- explain_check :many  what `check` says of executors: a row each (reason, sentence, helps). A queue without an executor is one if it has
-- work to do.
SELECT DISTINCT ON (e.sentence) e.reason, e.sentence, e.helps
FROM lockstep.queue q CROSS JOIN LATERAL lockstep.explain_executors(q.queue_id) AS e
WHERE NOT lockstep.explain_blind()
  AND (e.reason <> 'no_executor' OR EXISTS (SELECT FROM lockstep.run r WHERE r.queue_id = q.queue_id AND r.ended_at IS NULL))
ORDER BY e.sentence;
