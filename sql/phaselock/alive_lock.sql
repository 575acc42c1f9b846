-- phaselock_alive_lock :one  this session is the life of executor $1: granted?
-- columns: granted
SELECT pg_catalog.pg_try_advisory_lock(lockstep.lock_class('executor'), $1::int) AS granted;
