-- run_progress :one  how far run $1 is, for those who watch
SELECT r.status, r.ended_at IS NOT NULL AS ended, r.error, r.end_offset IS NOT NULL AS complete, r.tasks, r.rejected,
       round(extract(epoch FROM COALESCE(r.ended_at, clock_timestamp()) - r.started_at)::numeric, 1) AS seconds
FROM lockstep.run r
WHERE r.run_no = $1::bigint;
