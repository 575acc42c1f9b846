-- replay_unlock :one  gives the lock of replays of queue $1 back
-- columns: released
SELECT pg_catalog.pg_advisory_unlock(lockstep.lock_class('replay'), $1::int) AS released;
