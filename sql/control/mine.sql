-- control_mine :one  the wishes of operators for executor $1: the login that drains it, the number of readers
-- columns: drain_by, readers_limit
SELECT e.drain_by, e.readers_limit FROM lockstep.executor e WHERE e.executor_no = $1::int;
