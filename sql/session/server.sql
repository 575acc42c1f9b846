-- session_server :one  which server this is: system identifier, database, timeline (NULL in recovery); any login may ask
SELECT s.system_identifier, d.oid::bigint,
       -- The name of the current WAL file begins with the timeline, right after a promotion, too; the control file follows at the
       -- next checkpoint.
       CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN
           ('x' || pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8))::bit(32)::bigint END
FROM pg_catalog.pg_control_system() s, pg_catalog.pg_database d
WHERE d.datname = pg_catalog.current_database();
