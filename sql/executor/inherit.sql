-- executor_inherit :none  executor $2 is the next incarnation of the one of id $1, which has ended: what that one has set
-- aside, and what operators asked of it, is its own
WITH aside AS (
    UPDATE lockstep.executor_aside a SET executor_no = $2::int
    FROM lockstep.executor e WHERE e.executor_id = $1::uuid AND a.executor_no = e.executor_no)
UPDATE lockstep.executor n
SET readers_limit = LEAST(before.readers_limit, n.readers), drain_by = before.drain_by, drain_at = before.drain_at
FROM lockstep.executor before WHERE before.executor_id = $1::uuid AND n.executor_no = $2::int;
