-- view_server :one  what `check` wants to know about the server and about us
-- columns: version_num, version, database, login, superuser, started, is_executor, is_task, may_forge,
--          lacks_inherit, groups
SELECT current_setting('server_version_num')::int AS version_num, current_setting('server_version') AS version,
       current_database() AS database, session_user AS login,
       (SELECT u.rolsuper FROM pg_roles u WHERE u.rolname = session_user) AS superuser,
       extract(epoch FROM pg_postmaster_start_time())::text AS started,
       COALESCE((SELECT pg_has_role(session_user, r.oid, 'MEMBER')
                 FROM pg_roles r WHERE r.rolname = 'lockstep_executor'),
                false) AS is_executor,
       COALESCE((SELECT pg_has_role(session_user, r.oid, 'MEMBER') FROM pg_roles r WHERE r.rolname = 'lockstep_task'),
                false) AS is_task,
       EXISTS (SELECT FROM pg_roles r -- a role that it may become ends an attempt, or makes itself one that does
               WHERE (r.rolsuper OR r.rolcreaterole
                      OR r.rolname IN ('lockstep_owner', 'lockstep_executor', 'lockstep_worker'))
                 AND pg_has_role(session_user, r.oid, 'MEMBER')) AS may_forge,
       EXISTS (SELECT FROM pg_roles r -- a group that may read the schema
               WHERE r.rolname IN ('lockstep_executor', 'lockstep_producer', 'lockstep_operator', 'lockstep_monitor')
                 AND pg_has_role(session_user, r.oid, 'MEMBER')
                 AND NOT pg_has_role(session_user, r.oid, 'USAGE')) AS lacks_inherit,
       (SELECT string_agg(r.rolname, ', ' ORDER BY r.rolname)
        FROM pg_roles r
        WHERE r.rolname IN ('lockstep_producer', 'lockstep_operator', 'lockstep_monitor', 'lockstep_worker')
          AND pg_has_role(session_user, r.oid, 'MEMBER')) AS groups;
