-- tests/support/impossible.sql: states that no sequence of events, crashes included, may ever leave; a line for each
-- thing found. Every statement may be run at any time, also while executors are at work. Run by psql.
SELECT pg_catalog.format('task %s is %s and has a token', t.task_id, t.status)
FROM lockstep.task t
WHERE t.token IS NOT NULL AND t.status IN ('Completed', 'Failed', 'Cancelled', 'Terminated', 'PartiallyCompleted');
SELECT pg_catalog.format('task %s is being run by nobody', t.task_id)
FROM lockstep.task t WHERE t.status = 'Processing' AND (t.executor_no IS NULL OR t.token IS NULL);
SELECT pg_catalog.format('task %s waits and is owned by executor %s without a token', t.task_id, t.executor_no)
FROM lockstep.task t WHERE t.status IN ('Pending', 'Error') AND t.executor_no IS NOT NULL AND t.token IS NULL;
SELECT pg_catalog.format('task %s has a token and no owner', t.task_id)
FROM lockstep.task t WHERE t.token IS NOT NULL AND t.executor_no IS NULL;
SELECT pg_catalog.format('task %s is Completed and never started', t.task_id)
FROM lockstep.task t WHERE t.status = 'Completed' AND (t.started_at IS NULL OR t.duration IS NULL);
SELECT pg_catalog.format('task %s is Completed in a phase that was never opened', t.task_id)
FROM lockstep.task t JOIN lockstep.phase p USING (phase_id) WHERE t.status = 'Completed' AND p.opened_at IS NULL;
SELECT pg_catalog.format('task %s has %s attempts, of which %s were lost, and at most %s failed ones', t.task_id,
                         t.attempt_num, t.lost_num, t.max_attempts)
FROM lockstep.task t WHERE t.attempt_num > t.max_attempts OR t.lost_num > t.attempt_num;
SELECT pg_catalog.format('task %s has %s ended attempts and is at attempt %s', a.task_id, pg_catalog.count(*),
                         t.attempt_num)
FROM lockstep.task_attempt a JOIN lockstep.task t USING (task_id) GROUP BY a.task_id, t.attempt_num
HAVING pg_catalog.max(a.attempt) > t.attempt_num;
SELECT pg_catalog.format('task %s failed and no attempt says why', t.task_id)
FROM lockstep.task t
WHERE t.status = 'Failed'
  AND NOT EXISTS (SELECT FROM lockstep.task_attempt a WHERE a.task_id = t.task_id AND a.status = 'Failed');
SELECT pg_catalog.format('phase %s is done, its task %s is %s', p.phase_id, t.task_id, t.status)
FROM lockstep.phase p JOIN lockstep.task t USING (phase_id)
WHERE p.done_at IS NOT NULL AND t.status IN ('Pending', 'Processing', 'Error', 'Paused');
SELECT pg_catalog.format('phase %s is open, and phase %s before it is not done: task %s', p.phase_id, b.phase_id,
                         t.task_id)
FROM lockstep.phase p JOIN lockstep.phase b ON b.phase_id = p.previous_phase_id
JOIN lockstep.task t ON t.phase_id = b.phase_id
WHERE p.opened_at IS NOT NULL AND p.done_at IS NULL AND t.status IN ('Pending', 'Processing', 'Error');
SELECT pg_catalog.format('run %s has ended as %s, its phase %s is not done', r.run_no, r.status, p.phase_id)
FROM lockstep.run r JOIN lockstep.phase p USING (run_no) WHERE r.ended_at IS NOT NULL AND p.done_at IS NULL;
SELECT pg_catalog.format('run %s has a status of the end and has not ended, or the other way: %s', r.run_no, r.status)
FROM lockstep.run r WHERE (r.status IN ('Completed', 'PartiallyCompleted', 'Failed')) <> (r.ended_at IS NOT NULL)
                      AND r.status <> 'Cancelled';
SELECT pg_catalog.format('run %s counts %s tasks and has %s', r.run_no, r.tasks, pg_catalog.count(t.task_id))
FROM lockstep.run r LEFT JOIN lockstep.task t USING (run_no) GROUP BY r.run_no, r.tasks
HAVING r.tasks <> pg_catalog.count(t.task_id);
SELECT pg_catalog.format('offset %s of queue %s is there %s times', o, queue_id, pg_catalog.count(*))
FROM (SELECT queue_id, kafka_offset AS o FROM lockstep.task
      UNION ALL SELECT queue_id, kafka_offset FROM lockstep.rejected_message
      UNION ALL SELECT queue_id, end_offset FROM lockstep.run
      WHERE end_offset IS NOT NULL AND NOT implicit AND closed_by IS NULL)
    AS seen
JOIN lockstep.queue q USING (queue_id) WHERE q.epoch = 0 -- else a person had them read again
GROUP BY queue_id, o HAVING pg_catalog.count(*) > 1;
SELECT pg_catalog.format('offset %s of queue %s is there, the cursor is at %s', o, queue_id, q.next_offset)
FROM (SELECT queue_id, pg_catalog.max(kafka_offset) AS o FROM lockstep.task GROUP BY queue_id
      UNION ALL SELECT queue_id, pg_catalog.max(kafka_offset) FROM lockstep.rejected_message GROUP BY queue_id) AS seen
JOIN lockstep.queue q USING (queue_id) WHERE o >= q.next_offset;
SELECT pg_catalog.format('slot %s of queue %s is named by executor %s without a backend, or the other way', s.slot_no,
                         s.queue_id, s.executor_no)
FROM lockstep.slot s WHERE (s.executor_no IS NULL) <> (s.pid IS NULL);
SELECT pg_catalog.format('backend %s has slots %s of queue %s', s.pid, pg_catalog.array_agg(s.slot_no), s.queue_id)
FROM lockstep.slot s WHERE s.pid IS NOT NULL GROUP BY s.queue_id, s.pid, s.backend_start, s.executor_no
HAVING pg_catalog.count(*) > 1;
