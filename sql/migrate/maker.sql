-- migrate_maker :one  may this login make the roles, and grant them? From PostgreSQL 16 on a login that creates roles
-- grants only those that it created
-- columns: may
SELECT r.rolsuper
       OR (r.rolcreaterole
           AND (current_setting('server_version_num')::int < 160000
                OR NOT EXISTS (SELECT FROM pg_roles g
                               WHERE g.rolname IN ('lockstep_owner', 'lockstep_task')
                                 AND NOT pg_has_role(r.oid, g.oid, 'MEMBER WITH ADMIN OPTION')))) AS may
FROM pg_roles r WHERE r.rolname = session_user;
