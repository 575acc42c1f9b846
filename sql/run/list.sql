-- run_list :many  runs of queue $1 (NULL: all) with status $2 (NULL: any), the newest $3
-- columns: queue, run_id, name, status, tasks, completed, failed, cancelled, phases, order, started_at, ended_at,
--          seconds, started_by
SELECT s.queue, s.run_id, s.name, s.status, s.tasks, s.completed, s.failed, s.cancelled, s.phases, s."order",
       s.started_at, s.ended_at,
       round(extract(epoch FROM COALESCE(s.ended_at, clock_timestamp()) - s.started_at)::numeric, 3) AS seconds,
       s.started_by
FROM lockstep.run_status s
WHERE s.run_no = ANY (ARRAY(
    SELECT b.run_no
    FROM lockstep.queue q
    CROSS JOIN LATERAL (
        SELECT r.run_no FROM lockstep.run r
        WHERE r.queue_id::bigint BETWEEN q.queue_id AND q.queue_id -- by run_newest
          AND ($2::text IS NULL OR $2::text = lockstep.run_state(r.status, r.published_at))
        ORDER BY r.queue_id::bigint DESC, r.run_no DESC LIMIT $3::bigint) b
    WHERE $1::text IS NULL OR q.name = $1::text
    ORDER BY b.run_no DESC LIMIT $3::bigint))
ORDER BY s.run_no;
