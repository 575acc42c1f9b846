-- tests/torture/end.sql: conditions that hold when all has ended and the executors have stopped: one line for each
-- thing that does not. Run by psql after always.sql, in the same session. Tables on_topic (read from Kafka, committed
-- records only), published (by the publishers), history (begins of attempts, from the server's log), restarts (of the
-- server, from its log), said (the executors' logs), suspects (when which process stood still or was cut off).

-- 1. strict order again, now of all that began, also what was rolled back later. A restart undoes the last moments:
-- then the end of the phase before may have been undone with it.
WITH e AS (SELECT q, run, ord, max(ended) AS e
           FROM (SELECT q, run, ord, ended FROM ledger UNION ALL SELECT q, run, ord, ended FROM bare
                 UNION ALL SELECT q, run, ord, NULL FROM history) a GROUP BY 1, 2, 3),
     d AS (SELECT q, run, ord, max(e) OVER (PARTITION BY q, run ORDER BY ord
                                            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
           FROM e),
     b AS (SELECT h.*, d.before FROM history h JOIN d USING (q, run, ord))
SELECT format('order: %s run %s order %s no. %s began %s before the end of one before (history)', q, run, ord, n,
              before - at)
FROM b
WHERE at < before AND NOT EXISTS (SELECT FROM restarts r WHERE r.at BETWEEN b.at AND b.before + interval '1 second');
SELECT format('order: task %s (%s run %s order %s no. %s) is Cancelled and began at %s', t.task_id, h.q, h.run, h.ord,
              h.n, h.at)
FROM history h JOIN runs r ON r.q = h.q AND r.run_id = h.run
JOIN lockstep.task t ON t.run_no = r.run_no AND t."order" = h.ord AND t.name = h.n::text
WHERE t.status = 'Cancelled' AND NOT EXISTS (SELECT FROM restarts x WHERE x.at > h.at);

-- 2. nothing lost: each committed record is a task, an end or rejected, and nothing else is
WITH seen AS (
    SELECT q.name AS q, t.kafka_offset AS o FROM lockstep.task t JOIN lockstep.queue q USING (queue_id)
    UNION ALL SELECT q.name, m.kafka_offset FROM lockstep.rejected_message m JOIN lockstep.queue q USING (queue_id)
    UNION ALL SELECT q, end_offset FROM runs WHERE end_offset IS NOT NULL),
 s AS (SELECT q, o, count(*) AS n FROM seen GROUP BY 1, 2)
SELECT format('lost: %s offset %s is %s on the topic and %s in the database', q, o,
              CASE WHEN k.o IS NULL THEN 'not' ELSE '' END, COALESCE(n, 0))
FROM s FULL JOIN on_topic k USING (q, o) WHERE k.o IS NULL OR n IS DISTINCT FROM 1;
SELECT format('lost: %s stands at %s, the last record is %s', q.name, q.next_offset, max(k.o))
FROM lockstep.queue q JOIN on_topic k ON k.q = q.name GROUP BY q.name, q.next_offset HAVING q.next_offset <= max(k.o);
SELECT format('lost: %s run %s was published with %s tasks and has %s (%s)', p.q, p.run, p.tasks, count(t.task_id),
              COALESCE(r.status, 'no row'))
FROM published p LEFT JOIN runs r ON r.q = p.q AND r.run_id = p.run LEFT JOIN lockstep.task t ON t.run_no = r.run_no
WHERE p.status = 0 GROUP BY p.q, p.run, p.tasks, r.status HAVING count(t.task_id) <> p.tasks;

SELECT format('poison: offset %s of %s became task %s', t.kafka_offset, q.name, t.task_id)
FROM lockstep.task t JOIN lockstep.queue q USING (queue_id) WHERE t.name = 'unwanted';
SELECT format('effect: task %s (%s) is Completed and never began', t.task_id, t.type)
FROM lockstep.task t JOIN runs r USING (run_no)
WHERE t.type <> 'sql' AND t.status = 'Completed'
  AND NOT EXISTS (SELECT FROM history h
                  WHERE h.q = r.q AND h.run = r.run_id AND h.ord = t."order" AND h.n::text = t.name);

-- 3. every run ended, and those that were published well did not fail for nothing
SELECT format('run: %s run %s (%s tasks) is %s, not ended', q, run_id, tasks, status) FROM runs WHERE ended_at IS NULL;
SELECT format('run: %s run %s was published and is %s though no task of it failed: %s', r.q, r.run_id, r.status,
              r.error)
FROM runs r JOIN published p ON p.q = r.q AND p.run = r.run_id
WHERE p.status = 0 AND r.status IN ('Failed', 'Cancelled')
  AND NOT EXISTS (SELECT FROM lockstep.task t WHERE t.run_no = r.run_no AND t.status = 'Failed');
-- Given up: a task that is lost too often is held to be the cause. It must have begun.
SELECT format('given up: task %s was lost %s times, but began only %s times', t.task_id, t.lost_num, count(h.at))
FROM lockstep.task t JOIN runs r USING (run_no)
LEFT JOIN history h ON h.q = r.q AND h.run = r.run_id AND h.n::text = t.name
WHERE t.status = 'Failed' AND t.error LIKE 'given up%' GROUP BY t.task_id, t.lost_num HAVING count(h.at) < t.lost_num;

-- 4. the executors' own word
SELECT format('log: two incarnations have the id %s', id)
FROM (SELECT substring(line FROM ' executor=(\S+)') AS id FROM said WHERE event = 'executor_started') s
GROUP BY id HAVING count(*) > 1;
SELECT format('log: executor log %s: an incarnation starts beside the one before: %s', file, line)
FROM (SELECT *, lag(event) OVER (PARTITION BY file ORDER BY no) AS before FROM said
      WHERE event IN ('executor_started', 'executor_stopped')) s
WHERE event = 'executor_started' AND before = 'executor_started';
SELECT format('log: executor log %s: a loss without its cause: %s', file, line) FROM said
WHERE event = 'incarnation_lost' AND line NOT LIKE '% error=%';
SELECT format('log: executor log %s: %s', file, line) FROM said
WHERE line LIKE '% level=error %' AND event NOT LIKE 'kafka%';
SELECT format('log: task %s failed by the word of its executor and is %s', t.task_id, t.status)
FROM said s JOIN lockstep.task t ON t.task_id = substring(s.line FROM ' task=(\d+)')::bigint
WHERE s.event = 'task_failed' AND t.status <> 'Failed' AND NOT EXISTS (SELECT FROM restarts);
-- A frozen executor is one that stood still for long (T2, less the pause between two heartbeats of an idle one): no
-- clock, no stall of the database, no slow network makes one.
SELECT format('frozen: executor %s (pid %s) was taken for frozen at %s and was not', e.executor_no, e.pid, l.at)
FROM lockstep.event_log l JOIN lockstep.executor e USING (executor_no)
WHERE l.event = 'executor_frozen'
  AND COALESCE((SELECT sum(LEAST(s.until_at, l.at) - GREATEST(s.from_at, l.at - interval '25 seconds')) FROM suspects s
                WHERE s.pid = e.pid AND s.from_at < l.at AND s.until_at > l.at - interval '25 seconds'),
               '0') < interval '4 seconds';

-- 5. nothing left over
SELECT format('left: %s lock %s of pid %s (%s)', l.mode, l.objid, l.pid, a.application_name)
FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)
WHERE l.locktype = 'advisory' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database());
SELECT format('left: session %s of %s', pid, application_name) FROM pg_stat_activity
WHERE datname = current_database() AND application_name LIKE 'lockstep/%';
SELECT format('left: slot %s names pid %s of executor %s, which has signed off', slot_no, s.pid, executor_no)
FROM lockstep.slot s JOIN lockstep.executor e USING (executor_no) WHERE s.pid IS NOT NULL AND e.ended_why = 'drained';

-- 6. jobs: each firing has its effect, as its tasks have; the rows of a run that is Completed are loaded
SELECT format('job: run %s of %s for %s is Completed and has no effect', o.run_id, o.job, o.scheduled_for)
FROM lockstep.occurrence o
WHERE o.status = 'Completed' AND o.job IN ('tick', 'alone')
  AND NOT EXISTS (SELECT FROM fired f WHERE f.run = o.run_id AND f.at = o.scheduled_for);
SELECT format('job: row %s was not loaded by run %s, which is Completed', s.id, s.batch)
FROM staging s JOIN lockstep.run r ON r.run_id = s.batch
WHERE r.status = 'Completed' AND NOT EXISTS (SELECT FROM loaded l WHERE l.id = s.id);
SELECT format('job: the occurrence of %s of %s has no end', scheduled_for, job) FROM lockstep.occurrence
WHERE outcome = 'fired' AND ended_at IS NULL;
SELECT 'job: ' || job || ' fired nothing' FROM (VALUES ('tick'), ('alone'), ('rows')) AS j (job)
WHERE NOT EXISTS (SELECT FROM lockstep.occurrence o WHERE o.job = j.job AND o.outcome = 'fired');
