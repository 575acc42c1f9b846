-- replay_lock :one  takes the lock of replays of queue $1, if it is free: one session drives a replay at a time
-- columns: granted
SELECT pg_catalog.pg_try_advisory_lock(lockstep.lock_class('replay'), $1::int) AS granted;
