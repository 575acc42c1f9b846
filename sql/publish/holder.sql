-- publish_holder :maybe  who holds the producers' lock of queue $1: pid, user, address, application, since
-- columns: pid, usename, address, application_name, since
SELECT a.pid, a.usename, COALESCE(pg_catalog.host(a.client_addr), 'local') AS address, a.application_name,
       pg_catalog.to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS OF') AS since
FROM pg_catalog.pg_locks l
JOIN pg_catalog.pg_stat_activity a USING (pid)
WHERE l.locktype = 'advisory' AND l.classid = lockstep.lock_class('producer')::oid AND l.objid = $1::int::oid
  AND l.objsubid = 2 AND l.granted
  AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
LIMIT 1;
