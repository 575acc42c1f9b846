-- tests/torture/always.sql: conditions of every moment, in one snapshot: one line for each thing that does not. Run
-- by psql again and again during the faults, and at the end. Tables ledger and bare are written by the tasks
-- (load.bash).
CREATE TEMPORARY VIEW runs AS
SELECT q.name AS q, q.runs AS parallel, q.on_failure AS policy, r.*
FROM lockstep.run r JOIN lockstep.queue q USING (queue_id);

-- 1. strict order, by the effects: no task of a phase began before the last one of an earlier phase had ended
WITH p AS (SELECT q, run, ord, min(started) AS s, max(ended) AS e FROM ledger GROUP BY 1, 2, 3),
     d AS (SELECT q, run, ord, s,
                  max(e) OVER (PARTITION BY q, run ORDER BY ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS b
           FROM p)
SELECT format('order: %s run %s order %s began %s before the end of one before (ledger)', q, run, ord, b - s) FROM d
WHERE s < b;
WITH p AS (SELECT queue, run_id, "order" AS ord, min(started_at) AS s, max(ended_at) AS e FROM lockstep.execution_log
           WHERE status IN ('Completed', 'Failed', 'Error') GROUP BY 1, 2, 3),
     d AS (SELECT *, max(e) OVER (PARTITION BY queue, run_id ORDER BY ord
                                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS b
           FROM p)
SELECT format('order: %s run %s order %s began %s before the end of one before (log)', queue, run_id, ord, b - s)
FROM d WHERE s < b;
WITH p AS (SELECT r.q, r.run_id, r.first_offset, min(l.started) AS s, max(l.ended) AS e
           FROM runs r JOIN ledger l ON l.q = r.q AND l.run = r.run_id WHERE r.parallel = 'serial' GROUP BY 1, 2, 3),
     d AS (SELECT *, max(e) OVER (PARTITION BY q ORDER BY first_offset
                                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS b
           FROM p)
SELECT format('serial: %s run %s began %s before the end of a run before', q, run_id, b - s) FROM d WHERE s < b;

-- 2. exactly one effect of a transactional task that is Completed, none of another; at least one of the others
WITH e AS (SELECT q, run, ord, n, count(*) AS effects FROM ledger GROUP BY 1, 2, 3, 4),
     t AS (SELECT r.q, r.run_id AS run, t."order" AS ord, t.name::int AS n, t.status, t.task_id
           FROM lockstep.task t JOIN runs r USING (run_no)
           WHERE t.payload NOT LIKE '%"transaction": false%' AND t.type = 'sql')
SELECT format('effect: task %s (%s run %s order %s no. %s) is %s and has %s effects', t.task_id, q, run, ord, n,
              COALESCE(t.status::text, 'unknown'), COALESCE(e.effects, 0))
FROM t FULL JOIN e USING (q, run, ord, n)
WHERE COALESCE(e.effects, 0) <> CASE WHEN t.status = 'Completed' THEN 1 ELSE 0 END;
SELECT format('effect: task %s (%s run %s order %s no. %s) is Completed and has no effect', t.task_id, r.q, r.run_id,
              t."order", t.name)
FROM lockstep.task t JOIN runs r USING (run_no)
WHERE t.payload LIKE '%"transaction": false%' AND t.status = 'Completed'
  AND NOT EXISTS (SELECT FROM bare b WHERE b.q = r.q AND b.run = r.run_id AND b.ord = t."order" AND b.n = t.name::int);
SELECT format('effect: %s run %s order %s no. %s has an effect and is %s', q, run, ord, n,
              COALESCE(t.status::text, 'unknown'))
FROM bare b LEFT JOIN runs r USING (q)
LEFT JOIN lockstep.task t ON t.run_no = r.run_no AND t."order" = b.ord AND t.name = b.n::text
WHERE r.run_id = b.run AND (t.status IS NULL OR t.status = 'Cancelled');

-- 3. bounded, by the effects (the tasks themselves judge effects that were rolled back: torture-bad)
WITH e AS (SELECT q, started AS at, 1 AS d FROM ledger UNION ALL SELECT q, ended, -1 FROM ledger),
     s AS (SELECT q, sum(d) OVER (PARTITION BY q ORDER BY at, d ROWS UNBOUNDED PRECEDING) AS running FROM e)
SELECT format('bound: %s ran %s tasks at once, the bound is %s', s.q, max(running), k.max_readers)
FROM s JOIN lockstep.queue k ON k.name = s.q GROUP BY s.q, k.max_readers HAVING max(running) > k.max_readers;

-- 4. a task that failed did so on purpose, as often as it may; or it was lost too often
SELECT format('failed: task %s failed: %s %s', a.task_id, a.sqlstate, a.error)
FROM lockstep.task_attempt a WHERE a.status IN ('Failed', 'Error') AND a.sqlstate NOT IN ('22012', 'P0001');
SELECT format('failed: attempt %s of task %s failed on purpose, and its error is %s', a.attempt, a.task_id, a.error)
FROM lockstep.task_attempt a WHERE a.sqlstate = 'P0001' AND a.error NOT LIKE 'fails on purpose %ж';
SELECT format('failed: task %s has failed after %s of its attempts: %s', t.task_id, a.attempt, a.error)
FROM lockstep.task_attempt a JOIN lockstep.task t USING (task_id) WHERE a.status = 'Failed' AND a.sqlstate = 'P0001';
SELECT format('failed: task %s (%s) failed: %s', t.task_id, t.type, a.error)
FROM lockstep.task_attempt a JOIN lockstep.task t USING (task_id)
WHERE a.status IN ('Failed', 'Error') AND t.type <> 'sql' AND a.error NOT LIKE 'given up%';
SELECT format('failed: task %s is Completed without its failure', t.task_id)
FROM lockstep.task t WHERE t.status = 'Completed' AND t.payload LIKE '%1 / 0%';

-- 5. a run that ended has the outcome of its tasks
SELECT format('run: %s run %s is %s, but its task %s is %s', r.q, r.run_id, r.status, t.task_id, t.status)
FROM runs r JOIN lockstep.task t USING (run_no)
WHERE r.ended_at IS NOT NULL AND (t.status NOT IN ('Completed', 'Failed', 'Cancelled')
      OR (r.status = 'Completed' AND t.status <> 'Completed')
      OR (r.status = 'PartiallyCompleted' AND t.status = 'Cancelled'));
SELECT format('run: %s run %s is Failed under stop, but task %s of order %s is Completed after order %s', r.q,
              r.run_id, t.task_id, t."order", r.stop_after)
FROM runs r JOIN lockstep.task t USING (run_no)
WHERE r.stop_after > 0 AND t."order" > r.stop_after AND t.status = 'Completed';
SELECT format('phase: %s of run %s is not done', p.phase_id, r.run_id) FROM lockstep.phase p JOIN runs r USING (run_no)
WHERE p.done_at IS NULL AND r.ended_at IS NOT NULL;
SELECT format('halted: %s: %s', name, halted_detail) FROM lockstep.queue WHERE halted_reason IS NOT NULL;
-- A poisonous record has its own name in its key.
SELECT format('rejected: %s offset %s: %s %s', q.name, kafka_offset, reason, detail)
FROM lockstep.rejected_message JOIN lockstep.queue q USING (queue_id)
WHERE encode(key, 'escape') IS DISTINCT FROM 'poison ' || reason;

-- 6. work is taken from the dead only
SELECT format('adopted: task %s was taken from executor %s, which lived', a.task_id, a.executor_no)
FROM lockstep.task_attempt a JOIN lockstep.executor e USING (executor_no)
WHERE a.error = 'lost: its executor died' AND (e.ended_at <= a.ended_at) IS NOT TRUE;

-- 7. jobs: each time fires once, a time is decided, a run that must not overlap does not, a row is loaded once and
-- by the run that owns it
SELECT format('job: %s fired %s runs for %s', job, count(DISTINCT run), at) FROM fired GROUP BY job, at
HAVING count(DISTINCT run) > 1;
SELECT format('job: run %s of %s has no occurrence', r.run_id, j.name)
FROM lockstep.run r JOIN lockstep.job j USING (job_id)
WHERE NOT EXISTS (SELECT FROM lockstep.job_occurrence o WHERE o.run_id = r.run_id AND o.job_id = r.job_id);
SELECT format('job: the occurrence of %s of %s has no run', scheduled_for, job) FROM lockstep.occurrence o
WHERE o.outcome = 'fired' AND NOT EXISTS (SELECT FROM lockstep.run r WHERE r.run_id = o.run_id);
SELECT format('job: %s of %s is %s: %s', scheduled_for, job, outcome, reason) FROM lockstep.occurrence
WHERE outcome = 'error'
  OR (job = 'tick' AND outcome <> 'fired' AND reason <> 'the schedule was changed before it fired');
SELECT format('job: nothing was decided between %s and %s of tick', scheduled_for, next)
FROM (SELECT o.scheduled_for, lead(o.scheduled_for) OVER (ORDER BY o.scheduled_for) AS next FROM lockstep.occurrence o
      WHERE o.job = 'tick') s
WHERE next - scheduled_for <> interval '1 second';
SELECT format('job: run %s of alone began beside run %s', b.run_id, a.run_id)
FROM (SELECT r.run_id, r.created_at, r.ended_at, lead(r.run_id) OVER w AS next, lead(r.created_at) OVER w AS next_at
      FROM lockstep.run r JOIN lockstep.job j USING (job_id)
      WHERE j.name = 'alone' WINDOW w AS (ORDER BY r.created_at)) a JOIN lockstep.run b ON b.run_id = a.next
WHERE a.next_at < a.ended_at OR a.ended_at IS NULL;
SELECT format('job: row %s was loaded %s times', id, count(*)) FROM loaded GROUP BY id HAVING count(*) > 1;
SELECT format('job: row %s of run %s was loaded by run %s', l.id, s.batch, l.run)
FROM loaded l JOIN staging s USING (id) WHERE l.run IS DISTINCT FROM s.batch;
SELECT format('job: row %s belongs to run %s, which no job has fired', s.id, s.batch) FROM staging s
WHERE s.batch IS NOT NULL AND NOT EXISTS (SELECT FROM lockstep.occurrence o
                                          WHERE o.run_id = s.batch AND o.job = 'rows' AND o.outcome = 'fired');
