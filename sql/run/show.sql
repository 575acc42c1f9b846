-- run_show :one  the facts of run $1
-- columns: queue, run_id, name, status, reason, tasks, pending, processing, error, completed, failed, cancelled,
--          rejected, phases, order, on_failure, implicit, published_at, started_at, ended_at, seconds, swept, swept_at,
--          published_tasks, started_by
SELECT s.queue, s.run_id, s.name, s.status,
       COALESCE(s.reason,
                (SELECT concat_ws(': ', 'paused by ' || r.paused_by,
                                  (SELECT l.detail
                                   FROM lockstep.event_log l
                                   WHERE l.run_no = r.run_no AND l.event = 'run_paused'
                                   ORDER BY l.event_id DESC LIMIT 1))
                 FROM lockstep.run r WHERE r.run_no = s.run_no AND r.paused_by IS NOT NULL)) AS reason,
       s.tasks, s.pending, s.processing, s.error, s.completed, s.failed, s.cancelled, s.rejected, s.phases, s."order",
       s.on_failure, s.implicit, s.published_at, s.started_at, s.ended_at,
       round(extract(epoch FROM COALESCE(s.ended_at, clock_timestamp()) - s.started_at)::numeric, 3) AS seconds,
       s.swept, s.swept_at, s.published_tasks, s.started_by
FROM lockstep.run_status s WHERE s.run_no = $1::bigint;
