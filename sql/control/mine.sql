-- control_mine :one  the wishes of operators for executor $1, or for the incarnation before it, of id $2: the login
-- that drains it, the number of readers
-- columns: drain_by, readers_limit
SELECT max(e.drain_by) AS drain_by,
       COALESCE(max(e.readers_limit) FILTER (WHERE e.executor_no = $1::int), max(e.readers_limit)) AS readers_limit
FROM lockstep.executor e WHERE e.executor_no = $1::int OR e.executor_id = $2::uuid;
