-- run_show :one  the facts of run $1
SELECT s.queue, s.run_id, s.name, s.status, s.reason, s.tasks, s.pending, s.processing, s.error, s.completed, s.failed,
       s.cancelled, s.rejected, s.phases, s."order", s.on_failure, s.implicit, s.published_at, s.started_at, s.ended_at,
       round(extract(epoch FROM COALESCE(s.ended_at, clock_timestamp()) - s.started_at)::numeric, 3) AS seconds,
       s.swept, s.swept_at
FROM lockstep.run_status s
WHERE s.run_no = $1::bigint;
