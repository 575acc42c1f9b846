-- control_stopped :many  which tasks in our hands are not to be run (any more): task ids, tokens; a row each: id, gone:
-- its token is void,
-- stop: if it runs, its statement is to be cancelled; not what was recorded by us a moment ago
-- columns: task_id, gone, stop
SELECT g.task_id, t.token IS DISTINCT FROM g.token AS gone,
       t.token IS NOT DISTINCT FROM g.token OR COALESCE(t.status IN ('Cancelled', 'Terminated'), true) AS stop
FROM ROWS FROM (unnest($1::bigint[]), unnest($2::uuid[])) AS g (task_id, token)
LEFT JOIN lockstep.task t ON t.task_id = g.task_id
LEFT JOIN lockstep.run r ON r.run_no = t.run_no
WHERE t.token IS DISTINCT FROM g.token OR t.cancelled_by IS NOT NULL OR r.cancelled_at IS NOT NULL;
