-- control_mine :one  what operators want of executor $1, or wanted of the incarnation before it, of id $2: who has it
-- drained, how many readers
-- columns: drain_by, readers_limit
SELECT max(e.drain_by) AS drain_by,
       COALESCE(max(e.readers_limit) FILTER (WHERE e.executor_no = $1::int), max(e.readers_limit)) AS readers_limit
FROM lockstep.executor e WHERE e.executor_no = $1::int OR e.executor_id = $2::uuid;
