-- executor_fence :one  ends the sessions of a frozen executor: executor_no, the heartbeat at which it stopped; how
-- many, and which executor it is
-- columns: ended, executor_id, host, pid, queues
SELECT lockstep.executor_fence($1::int, $2::bigint) AS ended, e.executor_id, e.host, e.pid,
       array_to_string(e.queues, ',') AS queues
FROM lockstep.executor e WHERE e.executor_no = $1::int;
