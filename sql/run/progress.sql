-- run_progress :one  how far run $1 is, for those who watch
-- columns: status, ended, error, complete, tasks, rejected, seconds, name, published_tasks
-- words of status: Publishing, Published, Running, Paused, Completed, PartiallyCompleted, Failed, Cancelled
SELECT lockstep.run_state(r.status, r.published_at) AS status,
       r.ended_at IS NOT NULL AS ended, r.error, r.end_offset IS NOT NULL AS complete, r.tasks, r.rejected,
       round(extract(epoch FROM COALESCE(r.ended_at, clock_timestamp()) - r.started_at)::numeric, 1) AS seconds,
       r.name,
       COALESCE(r.end_tasks,
                CASE WHEN r.published_at IS NOT NULL THEN r.publish_acked_seq
                     ELSE NULLIF(r.publish_acked_seq + 1, 0) END) AS published_tasks
FROM lockstep.run r
WHERE r.run_no = $1::bigint;
