-- executor_cluster :none  remembers the cluster of a queue that had none yet: queue_id, cluster id
UPDATE lockstep.queue SET cluster_id = $2::text WHERE queue_id = $1::int AND cluster_id IS NULL;
