-- migrate_applied :many  what is applied: version (0: a function), name, checksum, applied_at
-- columns: version, name, checksum, applied_at
SELECT version, name, checksum, applied_at::text FROM lockstep.migration
UNION ALL
SELECT 0, name, checksum, applied_at::text FROM lockstep.function_version
ORDER BY 1, 2;
