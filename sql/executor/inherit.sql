-- executor_inherit :none  executor $2 is the next incarnation of executor $1 (its id), which has ended: it takes
-- over the queues that are set aside, and the wishes of operators
WITH aside AS (
    UPDATE lockstep.executor_aside a SET executor_no = $2::int
    FROM lockstep.executor e WHERE e.executor_id = $1::uuid AND a.executor_no = e.executor_no)
UPDATE lockstep.executor n
SET readers_limit = CASE WHEN before.readers_limit IS NOT NULL THEN LEAST(before.readers_limit, n.readers) END,
    drain_by = before.drain_by, drain_at = before.drain_at
FROM lockstep.executor before WHERE before.executor_id = $1::uuid AND n.executor_no = $2::int;
