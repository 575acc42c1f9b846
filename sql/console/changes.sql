-- console_changes :many  what the event stream says: the events behind number $1, and those up to it whose numbers are
-- in one of the stretches from $2 to $3 (a number is given before its transaction commits), oldest first, with 1,000
-- characters of detail at most and without the texts of errors, for all get the same, then without a number, so that
-- pages read them again: the runs and queues that readers work for. is_last: none of the later rows is the same event
-- of the same object; an event that names no object is always the last. The last row has no event: it is there for the
-- snapshot, whose bounds each row has.
-- columns: id, event, data, is_last, xmin, xmax
(SELECT l.event_id AS id,
        CASE t.about WHEN 'run' THEN 'run'
             WHEN 'phase' THEN 'phase'
             WHEN 'task' THEN 'task'
             WHEN 'job' THEN 'alert'
             ELSE CASE WHEN l.queue_id IS NULL AND l.executor_no IS NOT NULL THEN 'executor'
                       WHEN l.queue_id IS NULL THEN 'event' ELSE 'queue' END END AS event,
        json_build_object('event', l.event, 'at', l.at, 'queue', q.name, 'run_id', r.run_id, 'order', p."order",
                          'task', l.task_id, 'job', l.job, 'executor_id', e.executor_id, 'actor', l.actor,
                          'detail', left(lockstep.shown(l.event, l.detail, false), 1000)) AS data,
        COALESCE(l.queue_id, l.run_no, l.phase_id, l.task_id, l.executor_no) IS NULL AND l.job IS NULL
        OR l.event_id = max(l.event_id) OVER (PARTITION BY l.event, l.queue_id, l.run_no, l.phase_id, l.task_id, l.job,
                                                           l.executor_no) AS is_last,
        pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xmin,
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS xmax
 FROM (SELECT c.*
       FROM (
           (SELECT b.* FROM lockstep.event_log b WHERE b.event_id > $1::bigint ORDER BY b.event_id LIMIT 1000)
           UNION ALL
           (SELECT b.*
            FROM unnest($2::bigint[], $3::bigint[]) AS h (first, last)
            CROSS JOIN LATERAL (SELECT e.*
                                FROM lockstep.event_log e
                                WHERE e.event_id BETWEEN h.first AND least(h.last, $1::bigint)
                                ORDER BY e.event_id LIMIT 1000) b)) c
       ORDER BY c.event_id LIMIT 1000) l
 LEFT JOIN lockstep.event_type t ON t.event = l.event
 LEFT JOIN lockstep.queue q ON q.queue_id = l.queue_id
 LEFT JOIN lockstep.run r ON r.run_no = l.run_no
 LEFT JOIN lockstep.phase p ON p.phase_id = l.phase_id
 LEFT JOIN lockstep.executor e ON e.executor_no = l.executor_no
 ORDER BY l.event_id)
UNION ALL
(SELECT 0, 'run', json_build_object('queue', q.name, 'run_id', r.run_id), true,
        pg_snapshot_xmin(pg_current_snapshot())::text::bigint, pg_snapshot_xmax(pg_current_snapshot())::text::bigint
 FROM (SELECT DISTINCT s.queue_id FROM lockstep.slot s WHERE s.executor_no IS NOT NULL) w
 JOIN lockstep.queue q USING (queue_id)
 CROSS JOIN LATERAL (SELECT b.run_id
                     FROM lockstep.run b
                     WHERE b.queue_id = q.queue_id AND b.ended_at IS NULL AND b.started_at IS NOT NULL
                     ORDER BY b.run_no LIMIT 20) r)
UNION ALL
SELECT -1, NULL, NULL, true, pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
       pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
