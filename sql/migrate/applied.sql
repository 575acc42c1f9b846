-- migrate_applied :many  the applied scripts: version (0: a function or view), name, checksum, applied_at, and the
-- release of Lockstep that made it, or dropped it (no checksum); is that newer than release $1?
-- columns: version, name, checksum, applied_at, release, newer
SELECT version, name, checksum, applied_at::text, '' AS release, false AS newer FROM lockstep.migration
UNION ALL
SELECT 0, name, checksum, applied_at::text, release,
       release <> $1::text AND string_to_array(release, '.')::int[] > string_to_array($1::text, '.')::int[]
FROM lockstep.function_version
ORDER BY 1, 2;
