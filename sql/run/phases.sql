-- run_phases :many  the phases of run $1, in order
-- columns: order, previous_order, tasks, finished, processing, completed, failed, cancelled, error, state, opened_at,
--          done_at, seconds
-- words of state: waiting, open, done
SELECT p."order", p.previous_order, p.tasks, p.finished, p.processing, p.completed, p.failed, p.cancelled, p.error,
       CASE WHEN p.done_at IS NOT NULL THEN 'done' WHEN p.opened_at IS NOT NULL THEN 'open' ELSE 'waiting' END AS state,
       p.opened_at, p.done_at,
       round(extract(epoch FROM COALESCE(p.done_at, clock_timestamp()) - p.opened_at)::numeric, 3) AS seconds
FROM lockstep.phase_status p
WHERE p.run_no = $1::bigint
ORDER BY p."order";
