-- executor_learn :none  remembers what queue $1 did not know of its topic yet: cluster $2, partitions $3; NULL: nothing
-- new
UPDATE lockstep.queue
SET cluster_id = COALESCE(cluster_id, $2::text), partitions = COALESCE(partitions, $3::int)
WHERE queue_id = $1::int;
