-- migrate_stranger :one  a login that owns the schema, or the two tables of the migrator, and is neither lockstep_owner
-- nor this login nor a superuser: its triggers there could run as this login. NULL: there is none
-- columns: name
SELECT min(r.rolname::text) AS name
FROM (SELECT n.nspowner AS owner FROM pg_catalog.pg_namespace n WHERE n.nspname = 'lockstep'
      UNION ALL
      SELECT c.relowner
      FROM pg_catalog.pg_class c
      WHERE c.oid IN (pg_catalog.to_regclass('lockstep.migration'),
                      pg_catalog.to_regclass('lockstep.function_version'))) AS o
JOIN pg_catalog.pg_roles r ON r.oid = o.owner
WHERE r.rolname NOT IN ('lockstep_owner', session_user) AND NOT r.rolsuper;
