-- console_changes :many  what the event stream says: the events behind number $1 and those of $2 (a number is given before its transaction commits), oldest
-- first, with 1,000 characters of detail at most, then without a number, so that pages read them anew: the runs and queues that readers work for, and each alert that was looked at
-- columns: id, event, data
(SELECT l.event_id AS id,
        CASE t.about WHEN 'run' THEN 'run' WHEN 'phase' THEN 'phase' WHEN 'task' THEN 'task' WHEN 'job' THEN 'alert'
                     ELSE CASE WHEN l.queue_id IS NULL AND l.executor_no IS NOT NULL THEN 'executor' WHEN l.queue_id IS NULL THEN 'event' ELSE 'queue' END END AS event,
        json_build_object('event', l.event, 'at', l.at, 'queue', q.name, 'run_id', r.run_id, 'order', p."order", 'task', l.task_id, 'job', l.job,
                          'executor_id', e.executor_id, 'actor', l.actor, 'detail', left(l.detail, 1000)) AS data
 FROM (SELECT b.* FROM lockstep.event_log b WHERE b.event_id > $1::bigint OR b.event_id = ANY ($2::bigint[]) ORDER BY b.event_id LIMIT 1000) l
 LEFT JOIN lockstep.event_type t ON t.event = l.event
 LEFT JOIN lockstep.queue q ON q.queue_id = l.queue_id
 LEFT JOIN lockstep.run r ON r.run_no = l.run_no
 LEFT JOIN lockstep.phase p ON p.phase_id = l.phase_id
 LEFT JOIN lockstep.executor e ON e.executor_no = l.executor_no
 ORDER BY l.event_id)
UNION ALL
(SELECT 0, 'run', json_build_object('queue', q.name, 'run_id', r.run_id)
 FROM (SELECT DISTINCT s.queue_id FROM lockstep.slot s WHERE s.executor_no IS NOT NULL) w
 JOIN lockstep.queue q USING (queue_id)
 CROSS JOIN LATERAL (SELECT b.run_id FROM lockstep.run b WHERE b.queue_id = q.queue_id AND b.ended_at IS NULL AND b.started_at IS NOT NULL ORDER BY b.run_no LIMIT 20) r);
