-- migrate_may :one  may this login change the schema? Before there is an owner, any login that may make one
-- columns: may
SELECT r.rolsuper
       OR COALESCE((SELECT pg_catalog.pg_has_role(
                        r.oid, o.oid, CASE WHEN pg_catalog.current_setting('server_version_num')::int >= 160000
                                               THEN 'SET' ELSE 'MEMBER' END)
                    FROM pg_catalog.pg_roles o WHERE o.rolname = 'lockstep_owner'),
                   r.rolcreaterole) AS may
FROM pg_catalog.pg_roles r WHERE r.rolname = session_user;
