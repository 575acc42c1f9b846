-- executor_heartbeat :one  beats, and counts other executors that are registered and no longer live
UPDATE lockstep.executor SET heartbeat = heartbeat + 1, heartbeat_at = clock_timestamp()
WHERE executor_no = $1::int AND ended_at IS NULL
RETURNING (SELECT count(*) FROM lockstep.executor o
           WHERE o.ended_at IS NULL AND o.executor_no <> $1::int AND NOT lockstep.executor_lives(o.executor_no));
