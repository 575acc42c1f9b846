-- tests/torture/check.sql: what must hold when all has ended and the executors have stopped: one line for each thing that
-- does not. Tables ledger (written by the tasks), published (by the publishers), on_topic (read from Kafka, committed records
-- only). Run by psql.
CREATE TEMPORARY VIEW runs AS
SELECT q.name AS q, q.on_failure AS policy, r.* FROM lockstep.run r JOIN lockstep.queue q USING (queue_id);

-- 1. strict order: as the tasks saw it, and as the log says
WITH p AS (SELECT q, run, ord, min(started) AS s, max(ended) AS e FROM ledger GROUP BY 1, 2, 3),
     d AS (SELECT q, run, ord, s, max(e) OVER (PARTITION BY q, run ORDER BY ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS b FROM p)
SELECT format('order: %s run %s order %s began %s before the end of one before (ledger)', q, run, ord, b - s) FROM d WHERE s < b;
WITH p AS (SELECT queue, run_id, "order" AS ord, min(started_at) AS s, max(ended_at) AS e FROM lockstep.execution_log
           WHERE status IN ('Completed', 'Failed', 'Error') GROUP BY 1, 2, 3),
     d AS (SELECT *, max(e) OVER (PARTITION BY queue, run_id ORDER BY ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS b FROM p)
SELECT format('order: %s run %s order %s began %s before the end of one before (log)', queue, run_id, ord, b - s) FROM d WHERE s < b;
WITH p AS (SELECT r.q, r.run_id, r.first_offset, min(l.started) AS s, max(l.ended) AS e
           FROM runs r JOIN ledger l ON l.q = r.q AND l.run = r.run_id GROUP BY 1, 2, 3),
     d AS (SELECT *, max(e) OVER (PARTITION BY q ORDER BY first_offset ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS b FROM p)
SELECT format('serial: %s run %s began %s before the end of a run before', q, run_id, b - s) FROM d WHERE s < b;

-- 2. exactly one effect of a task that is Completed, none of another
WITH e AS (SELECT q, run, ord, n, count(*) AS effects FROM ledger GROUP BY 1, 2, 3, 4),
     t AS (SELECT r.q, r.run_id AS run, t."order" AS ord, t.name::int AS n, t.status, t.task_id FROM lockstep.task t JOIN runs r USING (run_no))
SELECT format('effect: task %s (%s run %s order %s no. %s) is %s and has %s effects', t.task_id, q, run, ord, n,
              COALESCE(t.status::text, 'unknown'), COALESCE(e.effects, 0))
FROM t FULL JOIN e USING (q, run, ord, n)
WHERE COALESCE(e.effects, 0) <> CASE WHEN t.status = 'Completed' THEN 1 ELSE 0 END;

-- 3. nothing lost: each committed record is a task, an end or rejected, and nothing else is
WITH seen AS (
    SELECT q.name AS q, t.kafka_offset AS o FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
    UNION ALL SELECT q.name, m.kafka_offset FROM lockstep.rejected_message m JOIN lockstep.queue q USING (queue_id)
    UNION ALL SELECT q, end_offset FROM runs WHERE end_offset IS NOT NULL),
 s AS (SELECT q, o, count(*) AS n FROM seen GROUP BY 1, 2)
SELECT format('lost: %s offset %s is %s on the topic and %s in the database', q, o, CASE WHEN k.o IS NULL THEN 'not' ELSE '' END, COALESCE(n, 0))
FROM s FULL JOIN on_topic k USING (q, o) WHERE k.o IS NULL OR n IS DISTINCT FROM 1;
SELECT format('lost: %s stands at %s, the last record is %s', q.name, q.next_offset, max(k.o))
FROM lockstep.queue q JOIN on_topic k ON k.q = q.name GROUP BY q.name, q.next_offset HAVING q.next_offset <= max(k.o);
SELECT format('lost: %s run %s was published with %s tasks and has %s (%s)', p.q, p.run, p.tasks, count(t.task_id), COALESCE(r.status, 'no row'))
FROM published p LEFT JOIN runs r ON r.q = p.q AND r.run_id = p.run LEFT JOIN lockstep.task t ON t.run_no = r.run_no
WHERE p.status = 0 GROUP BY p.q, p.run, p.tasks, r.status HAVING count(t.task_id) <> p.tasks;
SELECT format('rejected: %s offset %s: %s %s', q.name, kafka_offset, reason, detail)
FROM lockstep.rejected_message JOIN lockstep.queue q USING (queue_id);
SELECT format('halted: %s: %s', name, halted_detail) FROM lockstep.queue WHERE halted_reason IS NOT NULL;

-- 4. bounded
WITH e AS (SELECT q, started AS at, 1 AS d FROM ledger UNION ALL SELECT q, ended, -1 FROM ledger),
     s AS (SELECT q, sum(d) OVER (PARTITION BY q ORDER BY at, d ROWS UNBOUNDED PRECEDING) AS running FROM e)
SELECT format('bound: %s ran %s tasks at once, the bound is %s', s.q, max(running), k.max_readers)
FROM s JOIN lockstep.queue k ON k.name = s.q GROUP BY s.q, k.max_readers HAVING max(running) > k.max_readers;

-- 5. every run ended as its tasks say; what failed did so on purpose or because somebody cancelled it
SELECT format('run: %s run %s (%s tasks) is %s, not ended', q, run_id, tasks, status) FROM runs WHERE ended_at IS NULL;
SELECT format('run: %s run %s is %s, but its task %s is %s', r.q, r.run_id, r.status, t.task_id, t.status)
FROM runs r JOIN lockstep.task t USING (run_no)
WHERE r.ended_at IS NOT NULL AND (t.status NOT IN ('Completed', 'Failed', 'Cancelled')
      OR (r.status = 'Completed' AND t.status <> 'Completed')
      OR (r.status = 'PartiallyCompleted' AND t.status = 'Cancelled'));
SELECT format('run: %s run %s is Failed under stop, but task %s of order %s is Completed after order %s', r.q, r.run_id, t.task_id, t."order", r.stop_after)
FROM runs r JOIN lockstep.task t USING (run_no) WHERE r.stop_after > 0 AND t."order" > r.stop_after AND t.status = 'Completed';
SELECT format('run: %s run %s was published and is Failed though no task of it failed: %s', r.q, r.run_id, r.error)
FROM runs r JOIN published p ON p.q = r.q AND p.run = r.run_id
WHERE p.status = 0 AND r.status IN ('Failed', 'Cancelled') AND NOT EXISTS (SELECT FROM lockstep.task t WHERE t.run_no = r.run_no AND t.status = 'Failed');
SELECT format('failed: task %s failed: %s %s', a.task_id, a.sqlstate, a.error)
FROM lockstep.task_attempt a WHERE a.status IN ('Failed', 'Error') AND a.sqlstate NOT IN ('22012', 'P0001', '57014');
SELECT format('failed: task %s is Completed without its failure', t.task_id)
FROM lockstep.task t WHERE t.status = 'Completed' AND t.payload LIKE '%1 / 0%';
SELECT format('phase: %s of run %s is not done', p.phase_id, r.run_id) FROM lockstep.phase p JOIN runs r USING (run_no)
WHERE p.done_at IS NULL AND r.ended_at IS NOT NULL;

-- 6. nothing left over
SELECT format('left: %s lock %s of pid %s (%s)', l.mode, l.objid, l.pid, a.application_name)
FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)
WHERE l.locktype = 'advisory' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database());
SELECT format('left: session %s of %s', pid, application_name) FROM pg_stat_activity
WHERE datname = current_database() AND application_name LIKE 'lockstep/%';
SELECT format('left: slot %s names pid %s of executor %s, which has signed off', slot_no, s.pid, executor_no)
FROM lockstep.slot s JOIN lockstep.executor e USING (executor_no) WHERE s.pid IS NOT NULL AND e.ended_why = 'drained';

-- 7. work is taken from the dead only
SELECT format('adopted: task %s was taken from executor %s, which lived', a.task_id, a.executor_no)
FROM lockstep.task_attempt a JOIN lockstep.executor e USING (executor_no)
WHERE a.error = 'lost: its executor died' AND (e.ended_at <= a.ended_at) IS NOT TRUE;
