-- session_waits :maybe  what session $1 waits for: a session that holds a lock, or that migrates (pid 0: a prepared
-- transaction); no row: for nothing
-- columns: pid, holder
-- The first migration waits, too: lockstep.lock_class('migrator') may not be there yet.
SELECT h.pid,
       pg_catalog.concat_ws(', ', h.what, a.usename, NULLIF(a.application_name, ''),
                            'from ' || pg_catalog.host(a.client_addr),
                            a.state || ' since ' || pg_catalog.date_trunc('second', a.state_change),
                            'in a transaction since ' || pg_catalog.date_trunc('second', a.xact_start))
       || COALESCE(': ' || NULLIF(pg_catalog."left"(pg_catalog.split_part(a.query, E'\n', 1), 200), ''), '') AS holder
FROM (SELECT b.pid,
             CASE b.pid WHEN 0 THEN 'a lock that a prepared transaction holds (see pg_prepared_xacts)'
                  ELSE 'a lock that backend ' || b.pid || ' holds' END AS what
      FROM pg_catalog.unnest(pg_catalog.pg_blocking_pids($1::int)) AS b (pid)
      UNION ALL -- a migrator that waits for its turn does so outside the server: migrate/lock.sql
      SELECT l.pid, 'another migrator, backend ' || l.pid
      FROM pg_catalog.pg_locks l
      WHERE l.locktype = 'advisory' AND l.classid = 1280507909 AND l.objid = 1 AND l.objsubid = 2 AND l.granted
        AND l.pid <> $1::int
        AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())
        AND EXISTS (SELECT FROM pg_catalog.pg_stat_activity m
                    WHERE m.pid = $1::int AND m.application_name = 'lockstep/migrate')) AS h
LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = h.pid
LIMIT 1;
