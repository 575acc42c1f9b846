-- migrate_applied :many  what is applied: version (0: a function or view), name, checksum, applied_at, and the release
-- of Lockstep that made it; is that newer than release $1?
-- columns: version, name, checksum, applied_at, release, newer
SELECT a.version, a.name, a.checksum, a.applied_at::text, a.release,
       string_to_array(a.release, '.')::int[] > string_to_array($1::text, '.')::int[] AS newer
FROM (SELECT m.version, m.name, m.checksum, m.applied_at, '0' AS release FROM lockstep.migration m
      UNION ALL -- by name: a schema of an earlier baseline, which is refused, has no such column
      SELECT 0, f.name, f.checksum, f.applied_at, COALESCE(to_jsonb(f) ->> 'release', '0')
      FROM lockstep.function_version f) AS a
ORDER BY a.version, a.name;
