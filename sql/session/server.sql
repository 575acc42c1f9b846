-- session_server :one  which server this is: system identifier, database, timeline (NULL in recovery); any login may
-- ask
-- Every name and operator is qualified: task sessions ask it, too, whose search_path is the login's own.
-- columns: system_identifier, database, timeline
SELECT s.system_identifier, d.oid::pg_catalog.int8 AS database,
       -- The name of the current WAL file begins with the timeline, right after a promotion, too; the control file
       -- follows at the next checkpoint.
       CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN pg_catalog.concat(
                'x',
                pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1,
                                  8))::pg_catalog.bit(32)::pg_catalog.int8 END AS timeline
FROM pg_catalog.pg_control_system() s, pg_catalog.pg_database d
WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database();
