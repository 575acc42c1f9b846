-- The promised views. What a column means is said in docs/ and does not change; new columns go to the end.
CREATE VIEW lockstep.execution_log AS
SELECT q.name AS queue, r.run_id, t."order", p.previous_order, t.seq, t.task_id, t.attempt_num AS attempt, t.type,
       t.payload::json ->> 'sql' AS sql, t.status, t.started_at, t.started_at + t.duration AS ended_at, t.duration,
       e.executor_id, NULL::text AS error, NULL::text AS sqlstate, NULL::text AS detail, NULL::text AS context, t.name
FROM lockstep.task t
JOIN lockstep.phase p USING (phase_id)
JOIN lockstep.run r ON r.run_no = t.run_no
JOIN lockstep.queue q ON q.queue_id = t.queue_id
LEFT JOIN lockstep.executor e ON e.executor_no = t.executor_no
WHERE t.status IN ('Completed', 'Processing')
UNION ALL
SELECT q.name, r.run_id, t."order", p.previous_order, t.seq, t.task_id, a.attempt, t.type, t.payload::json ->> 'sql', a.status,
       a.started_at, a.ended_at, a.ended_at - a.started_at, e.executor_id, a.error, a.sqlstate, a.detail, a.context, t.name
FROM lockstep.task_attempt a
JOIN lockstep.task t USING (task_id)
JOIN lockstep.phase p USING (phase_id)
JOIN lockstep.run r ON r.run_no = t.run_no
JOIN lockstep.queue q ON q.queue_id = t.queue_id
LEFT JOIN lockstep.executor e ON e.executor_no = a.executor_no;

CREATE VIEW lockstep.run_status AS
SELECT q.name AS queue, r.run_id, r.name, r.status, c.tasks, c.pending, c.processing, c.error, c.completed,
       c.failed + r.rejected AS failed, c.cancelled,
       (SELECT p."order" FROM lockstep.phase p WHERE p.run_no = r.run_no AND p.opened_at IS NOT NULL AND p.done_at IS NULL
        ORDER BY p."order" LIMIT 1) AS "order",
       r.published_at, r.started_at, r.ended_at, r.phases, r.rejected, r.on_failure, r.implicit, r.error AS reason, r.run_no,
       r.end_tasks, r.end_phases
FROM lockstep.run r
JOIN lockstep.queue q USING (queue_id)
CROSS JOIN LATERAL (
    SELECT count(*) AS tasks,
           count(*) FILTER (WHERE t.status IN ('Pending', 'Paused')) AS pending,
           count(*) FILTER (WHERE t.status = 'Processing') AS processing,
           count(*) FILTER (WHERE t.status = 'Error') AS error,
           count(*) FILTER (WHERE t.status = 'Completed') AS completed,
           count(*) FILTER (WHERE t.status IN ('Failed', 'Terminated', 'PartiallyCompleted')) AS failed,
           count(*) FILTER (WHERE t.status = 'Cancelled') AS cancelled
    FROM lockstep.phase p JOIN lockstep.task t USING (phase_id) WHERE p.run_no = r.run_no) c;

CREATE VIEW lockstep.phase_status AS
SELECT r.run_id, p."order", p.previous_order, c.tasks, c.finished, p.opened_at, p.done_at, q.name AS queue, c.processing,
       c.completed, c.failed, c.cancelled, c.error, c.first_start, c.last_end, p.phase_id, r.run_no
FROM lockstep.phase p
JOIN lockstep.run r USING (run_no)
JOIN lockstep.queue q ON q.queue_id = p.queue_id
CROSS JOIN LATERAL (
    SELECT count(*) AS tasks,
           count(*) FILTER (WHERE s.is_finished) AS finished,
           count(*) FILTER (WHERE t.status = 'Processing') AS processing,
           count(*) FILTER (WHERE t.status = 'Completed') AS completed,
           count(*) FILTER (WHERE t.status IN ('Failed', 'Terminated', 'PartiallyCompleted')) AS failed,
           count(*) FILTER (WHERE t.status = 'Cancelled') AS cancelled,
           count(*) FILTER (WHERE t.status = 'Error') AS error,
           min(t.started_at) AS first_start, max(t.started_at + t.duration) AS last_end
    FROM lockstep.task t JOIN lockstep.task_status s USING (status) WHERE t.phase_id = p.phase_id) c;

CREATE VIEW lockstep.reader_status AS
WITH held AS ( -- slots are advisory locks of class 1280507906, see sql/functions/lock_class.sql
    SELECT s.queue_id, s.executor_no, count(*) AS in_use
    FROM lockstep.slot s
    JOIN pg_catalog.pg_locks l ON l.locktype = 'advisory' AND l.classid = 1280507906 AND l.objid = s.slot_id::oid
         AND l.objsubid = 2 AND l.granted AND l.mode = 'ExclusiveLock'
         AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
    GROUP BY s.queue_id, s.executor_no)
SELECT q.name AS queue, q.max_readers, COALESCE(h.in_use, 0) AS in_use, e.executor_id, e.host, e.pid, e.readers,
       e.heartbeat_at, e.executor_no, e.started_at, e.version
FROM lockstep.queue q
LEFT JOIN lockstep.executor e ON e.ended_at IS NULL AND q.name = ANY (e.queues)
LEFT JOIN held h ON h.queue_id = q.queue_id AND h.executor_no = e.executor_no;

CREATE VIEW lockstep.rejected AS
SELECT q.name AS queue, m.kafka_offset AS "offset", m.reason, m.detail, m.raw, m.rejected_at, m.rejected_id, r.run_id, m.seq
FROM lockstep.rejected_message m
JOIN lockstep.queue q USING (queue_id)
LEFT JOIN lockstep.run r USING (run_no);
