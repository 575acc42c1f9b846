-- executor_fence :one  ends the sessions of a frozen executor: executor_no, the heartbeat at which it stands; how many
-- columns: ended
SELECT lockstep.executor_fence($1::int, $2::bigint) AS ended;
