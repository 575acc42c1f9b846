-- phaselock_alive_check :one  is executor $1 alive? Shared and at transaction level, so that two who ask do not see each other
-- columns: alive
SELECT NOT pg_catalog.pg_try_advisory_xact_lock_shared(lockstep.lock_class('executor'), $1::int) AS alive;
