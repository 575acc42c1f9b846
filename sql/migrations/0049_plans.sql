-- What statements of ours look for and had no index for, so that they read all of a table, a queue or a phase. Where another index begins with the
-- same column, this one is of an expression: then the statement that is written so can use no other, and its plan is certain. Among indexes
-- of equal cost the planner's choice is luck, and all of them are of equal cost to a plan that is made while the table is small.
CREATE INDEX phase_left ON lockstep.phase ((run_no + 0), ("order" + 0)) WHERE done_at IS NULL; -- of a run
CREATE INDEX run_newest ON lockstep.run ((queue_id::bigint), run_no); -- the newest of a queue
DROP INDEX lockstep.task_unowned;
CREATE INDEX task_unowned ON lockstep.task ((phase_id + 0), kafka_offset) WHERE executor_no IS NULL AND type <> 'external';
-- External tasks that no worker has, and those that one has until then. Tasks of other types have neither, and their updates stay HOT.
CREATE INDEX task_offered ON lockstep.task ((phase_id + 0), kafka_offset) WHERE type = 'external' AND worker IS NULL;
CREATE INDEX task_leased ON lockstep.task ((phase_id + 0), lease_until) WHERE lease_until IS NOT NULL;

-- The run's tasks are found by its phases: a task's run_no has no index.
CREATE OR REPLACE VIEW lockstep.execution_log AS
SELECT q.name AS queue, r.run_id, t."order", p.previous_order, t.seq, t.task_id, t.attempt_num AS attempt, t.type,
       t.payload::json ->> 'sql' AS sql, t.status, t.started_at, t.started_at + t.duration AS ended_at, t.duration,
       e.executor_id, NULL::text AS error, NULL::text AS sqlstate, NULL::text AS detail, NULL::text AS context, t.name, t.worker,
       t.rows, t.notices
FROM lockstep.task t
JOIN lockstep.phase p USING (phase_id)
JOIN lockstep.run r ON r.run_no = p.run_no
JOIN lockstep.queue q ON q.queue_id = r.queue_id
LEFT JOIN lockstep.executor e ON e.executor_no = t.executor_no
WHERE t.status IN ('Completed', 'Processing')
UNION ALL
SELECT q.name, r.run_id, t."order", p.previous_order, t.seq, t.task_id, a.attempt, t.type, t.payload::json ->> 'sql', a.status,
       a.started_at, a.ended_at, a.ended_at - a.started_at, e.executor_id, a.error, a.sqlstate, a.detail, a.context, t.name,
       COALESCE(a.worker, CASE WHEN a.attempt = t.attempt_num THEN t.worker END), a.rows, a.notices
FROM lockstep.task_attempt a
JOIN lockstep.task t USING (task_id)
JOIN lockstep.phase p USING (phase_id)
JOIN lockstep.run r ON r.run_no = p.run_no
JOIN lockstep.queue q ON q.queue_id = r.queue_id
LEFT JOIN lockstep.executor e ON e.executor_no = a.executor_no;

CREATE OR REPLACE VIEW lockstep.run_status AS
SELECT q.name AS queue, r.run_id, r.name,
       CASE WHEN r.status = 'Publishing' AND r.published_at IS NOT NULL THEN 'Published' ELSE r.status END AS status, c.tasks + COALESCE(s.tasks, 0) AS tasks, c.pending, c.processing, c.error,
       c.completed + COALESCE(s.completed, 0) AS completed, c.failed + COALESCE(s.failed, 0) + r.rejected AS failed,
       c.cancelled + COALESCE(s.cancelled, 0) AS cancelled,
       (SELECT p."order" FROM lockstep.phase p WHERE p.run_no = r.run_no AND p.opened_at IS NOT NULL AND p.done_at IS NULL
        ORDER BY p."order" LIMIT 1) AS "order",
       r.published_at, r.started_at, r.ended_at, r.phases, r.rejected, r.on_failure, r.implicit, r.error AS reason, r.run_no,
       r.end_tasks, r.end_phases, s.swept_at, r.swept,
       -- A finite publisher notes the seq of the run's end, which is the number of its tasks; a stream that of its newest task.
       COALESCE(r.end_tasks, CASE WHEN r.published_at IS NOT NULL THEN r.publish_acked_seq ELSE NULLIF(r.publish_acked_seq + 1, 0) END) AS published_tasks
FROM lockstep.run r
JOIN lockstep.queue q USING (queue_id)
LEFT JOIN lockstep.run_summary s USING (run_no)
CROSS JOIN LATERAL (
    SELECT count(*) AS tasks,
           count(*) FILTER (WHERE t.status IN ('Pending', 'Paused')) AS pending,
           count(*) FILTER (WHERE t.status = 'Processing') AS processing,
           count(*) FILTER (WHERE t.status = 'Error') AS error,
           count(*) FILTER (WHERE t.status = 'Completed') AS completed,
           count(*) FILTER (WHERE t.status IN ('Failed', 'Terminated', 'PartiallyCompleted')) AS failed,
           count(*) FILTER (WHERE t.status = 'Cancelled') AS cancelled
    FROM lockstep.phase p CROSS JOIN LATERAL (SELECT k.status FROM lockstep.task k WHERE k.phase_id = p.phase_id OFFSET 0) t -- phase by phase
    WHERE p.run_no = r.run_no) c;
