-- console_run_events :maybe  the newest $1 events of run $2 before number $3, if $4 with the texts of errors
-- columns: document
WITH no AS (SELECT r.run_no FROM lockstep.run r WHERE r.run_id = $2::uuid ORDER BY r.run_no DESC LIMIT 1),
page AS (
    SELECT l.event_id, l.at, l.event, l.event AS kind, q.name AS queue, $2::uuid AS run_id, p."order", l.task_id,
           e.executor_id, l.actor, lockstep.shown(l.event, l.detail, $4::boolean) AS detail
    FROM (SELECT b.event_id, b.at, b.event, b.queue_id, b.phase_id, b.task_id, b.executor_no, b.actor, b.detail
          FROM lockstep.event_log b
          WHERE b.run_no BETWEEN (SELECT n.run_no FROM no n) AND (SELECT n.run_no FROM no n)
            AND b.event_id < COALESCE($3::bigint, 9223372036854775807)
          ORDER BY b.run_no DESC, b.event_id DESC LIMIT $1::bigint) l -- by event_log_run
    LEFT JOIN lockstep.queue q ON q.queue_id = l.queue_id
    LEFT JOIN lockstep.phase p ON p.phase_id = l.phase_id
    LEFT JOIN lockstep.executor e ON e.executor_no = l.executor_no)
SELECT lockstep.page((SELECT json_agg(p ORDER BY p.event_id DESC) FROM page p),
                     (SELECT 'events.' || min(event_id) FROM page HAVING count(*) = $1::bigint),
                     (SELECT count(*)
                      FROM (SELECT FROM lockstep.event_log l
                            WHERE l.run_no BETWEEN no.run_no AND no.run_no
                            ORDER BY l.run_no DESC, l.event_id DESC LIMIT 10001) c)) AS document
FROM no;
