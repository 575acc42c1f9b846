-- log_events :many  events of run $2, queue $3, kind $4 (NULL: any), the newest $5, in the order of their times: those
-- with a number above $1 up to $7 (NULL: all), and those of $6 (a line gets its number before its transaction commits:
-- log_holes)
-- columns: id, at, event, queue, run_id, order, task, executor_id, actor, detail
SELECT v.event_id AS id, v.at, v.event, v.queue, v.run_id, v."order", v.task_id AS task, v.executor_id, v.actor,
       v.detail
FROM (SELECT n.*
      FROM (SELECT l.event_id, l.at, l.event, q.name AS queue, r.run_id, p."order", l.task_id, e.executor_id, l.actor,
                   l.detail
            FROM lockstep.event_log l
            LEFT JOIN lockstep.queue q ON q.queue_id = l.queue_id
            LEFT JOIN lockstep.run r ON r.run_no = l.run_no
            LEFT JOIN lockstep.phase p ON p.phase_id = l.phase_id
            LEFT JOIN lockstep.executor e ON e.executor_no = l.executor_no
            WHERE ((l.event_id > $1::bigint AND ($7::bigint IS NULL OR l.event_id <= $7::bigint))
                   OR l.event_id = ANY ($6::bigint[]))
              AND ($2::bigint IS NULL OR l.run_no = $2::bigint)
              AND ($3::text IS NULL OR q.name = $3::text) AND ($4::text IS NULL OR l.event = $4::text)
            -- the log is indexed by number; a line's time is at most so much off
            ORDER BY l.event_id DESC LIMIT $5::bigint + 1000) n
      ORDER BY n.at DESC, n.event_id DESC LIMIT $5::bigint) v
ORDER BY v.at, v.event_id;
