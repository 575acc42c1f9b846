-- Each run, and its progress. The open phase of a run is found by the index of the phases of that run that are not
-- done: with three thousand runs at once, each row would otherwise read the phases of all. Promised to users: a column
-- keeps its name and meaning; new ones go to the end.
CREATE OR REPLACE VIEW lockstep.run_status AS
SELECT q.name AS queue, r.run_id, r.name,
       lockstep.run_state(r.status, r.published_at) AS status, c.tasks + COALESCE(s.tasks, 0) AS tasks, c.pending,
       c.processing, c.error, c.completed + COALESCE(s.completed, 0) AS completed,
       c.failed + COALESCE(s.failed, 0) + r.rejected AS failed, c.cancelled + COALESCE(s.cancelled, 0) AS cancelled,
       -- by phase_left
       (SELECT p."order"
        FROM lockstep.phase p
        WHERE p.run_no + 0 = r.run_no AND p.opened_at IS NOT NULL AND p.done_at IS NULL
        ORDER BY p."order" + 0 LIMIT 1) AS "order",
       r.published_at, r.started_at, r.ended_at, r.phases, r.rejected, r.on_failure, r.implicit, r.error AS reason,
       r.run_no, r.end_tasks, r.end_phases, s.swept_at, r.swept,
       -- A finite publisher notes the seq of the run's end, which is the number of its tasks; a stream that of its
       -- newest task.
       COALESCE(r.end_tasks,
                CASE WHEN r.published_at IS NOT NULL THEN r.publish_acked_seq
                     ELSE NULLIF(r.publish_acked_seq + 1, 0) END) AS published_tasks,
       r.started_by
FROM lockstep.run r
JOIN lockstep.queue q USING (queue_id)
LEFT JOIN lockstep.run_summary s USING (run_no)
CROSS JOIN LATERAL (
    SELECT count(*) AS tasks,
           count(*) FILTER (WHERE t.status IN ('Pending', 'Paused')) AS pending,
           count(*) FILTER (WHERE t.status = 'Processing') AS processing,
           count(*) FILTER (WHERE t.status = 'Error') AS error,
           count(*) FILTER (WHERE t.status = 'Completed') AS completed,
           count(*) FILTER (WHERE lockstep.is_failed(t.status)) AS failed,
           count(*) FILTER (WHERE t.status = 'Cancelled') AS cancelled
    -- phase by phase
    FROM lockstep.phase p
    CROSS JOIN LATERAL (SELECT k.status FROM lockstep.task k WHERE k.phase_id = p.phase_id OFFSET 0) t
    WHERE p.run_no = r.run_no) c;
GRANT SELECT ON lockstep.run_status TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
