-- migrate_lock :one  one migrator at a time (class of migrators); tried, so that no session waits inside the server
-- columns: granted
SELECT pg_catalog.pg_try_advisory_lock(1280507909, 1) AS granted;
