-- migrate_exists :one  is there a schema of ours at all?
-- columns: there
SELECT pg_catalog.to_regclass('lockstep.migration') IS NOT NULL AS there;
