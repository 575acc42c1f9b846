-- executor_still_ours :many  of tasks that were to be returned or lost, those whose rows another session had locked:
-- task ids, tokens
-- columns: task_id
SELECT t.task_id
FROM ROWS FROM (unnest($1::bigint[]), unnest($2::uuid[])) AS g (task_id, token)
JOIN lockstep.task t ON t.task_id = g.task_id AND t.token = g.token;
