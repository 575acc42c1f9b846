-- migrate_holder :maybe  the session that has the migrators' lock; there may be no schema yet
-- columns: pid, holder
SELECT l.pid, pg_catalog.concat_ws(', ', a.usename, NULLIF(a.application_name, ''),
                                   'from ' || pg_catalog.host(a.client_addr), a.state,
                                   'connected since ' || pg_catalog.date_trunc('second', a.backend_start)) AS holder
FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.classid = 1280507909 AND l.objid = 1 AND l.objsubid = 2 AND l.granted
  AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database());
