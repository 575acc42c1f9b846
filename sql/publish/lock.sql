-- publish_lock :one  one producer at a time on queue $1, as long as the session lives; tried, so that no session waits
-- in the server
-- columns: granted
SELECT pg_catalog.pg_try_advisory_lock(lockstep.lock_class('producer'), $1::int) AS granted;
