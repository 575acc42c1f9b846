-- relay_lock :one  one relay at a time for queue $1, as long as the session lives; tried, never waited for
-- columns: granted
SELECT pg_catalog.pg_try_advisory_lock(lockstep.lock_class('relay'), $1::int) AS granted;
