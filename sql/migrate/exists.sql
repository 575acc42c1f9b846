-- migrate_exists :one  is there a schema of ours at all?
SELECT pg_catalog.to_regclass('lockstep.migration') IS NOT NULL;
