-- reader_gone :one  ends what the server still does for a lost session of this role: pid, backend_start; is it gone?
-- columns: is_gone
SELECT count(pg_catalog.pg_terminate_backend(a.pid)) = 0 AS is_gone
FROM pg_catalog.pg_stat_activity a WHERE a.pid = $1::int AND a.backend_start = $2::timestamptz;
