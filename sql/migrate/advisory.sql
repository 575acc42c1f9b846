-- migrate_advisory :many  statements after which only the roles of Lockstep, and superusers, take advisory locks in
-- this database
-- columns: statement
SELECT format('REVOKE EXECUTE ON FUNCTION pg_catalog.%s FROM PUBLIC; GRANT EXECUTE ON FUNCTION pg_catalog.%1$s TO '
              'lockstep_owner, lockstep_executor, lockstep_producer, lockstep_operator%s;',
              format('%I(%s)', p.proname, pg_get_function_identity_arguments(p.oid)),
              CASE WHEN p.proname = 'pg_advisory_unlock_all' THEN ', lockstep_task' ELSE '' END) AS statement
FROM pg_proc p
WHERE p.pronamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = 'pg_catalog')
  AND p.proname ~ '^pg_(try_)?advisory'
ORDER BY p.proname, p.oid;
