-- relay_unlock :one  gives the lock of queue $1 back; false: it was not held
-- columns: held
SELECT pg_catalog.pg_advisory_unlock(lockstep.lock_class('relay'), $1::int) AS held;
