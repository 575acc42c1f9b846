-- migrate_unlock :one  gives the migrators' lock back
-- columns: held
SELECT pg_catalog.pg_advisory_unlock(1280507909, 1) AS held;
