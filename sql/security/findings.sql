-- security_findings :many  rights by which one role could become another: grade (2: it can, 1: look at it), subject,
-- finding, hint. $1: the login of the tasks, NULL: not known. $2: only what may be created, where other sessions could
-- find it
-- columns: grade, subject, finding, hint
WITH lockstep AS (
    SELECT n.oid, n.nspowner, n.nspacl, (SELECT r.oid FROM pg_roles r WHERE r.rolname = 'lockstep_owner') AS owner,
           (SELECT r.oid FROM pg_roles r WHERE r.rolname = 'lockstep_executor') AS executor,
           (SELECT r.oid FROM pg_roles r WHERE r.rolname = 'lockstep_operator') AS operator,
           (SELECT r.oid FROM pg_roles r WHERE r.rolname = 'lockstep_task') AS task,
           (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AS database
    FROM pg_namespace n WHERE n.nspname = 'lockstep'),
groups AS (
    SELECT r.oid, r.rolname, r.rolsuper, r.rolcreaterole, r.rolcanlogin, r.rolbypassrls, r.rolreplication
    FROM pg_roles r
    WHERE r.rolname IN ('lockstep_owner', 'lockstep_executor', 'lockstep_task', 'lockstep_producer',
                        'lockstep_operator', 'lockstep_monitor', 'lockstep_worker')),
memberships AS (
    -- From PostgreSQL 16 on a membership may have several grants, and REVOKE takes that of one grantor. Before, it has
    -- one grant, whose grantor may be gone.
    SELECT m.roleid, m.member,
           format('REVOKE %s FROM %s%s;', m.roleid::regrole, m.member::regrole,
                  CASE WHEN current_setting('server_version_num')::int >= 160000
                           THEN format(' GRANTED BY %s', m.grantor::regrole) END) AS undone
    FROM pg_auth_members m),
tasks AS ( -- logins that run task SQL
    SELECT r.oid, r.rolname, r.rolsuper, r.rolcreaterole
    FROM pg_roles r, lockstep l
    WHERE r.rolname = $1::text
       OR (r.rolcanlogin AND NOT r.rolsuper AND pg_has_role(r.oid, l.task, 'MEMBER')
           AND NOT pg_has_role(r.oid, l.executor, 'MEMBER'))),
granted AS ( -- on relations and columns of ours
    SELECT c.oid::regclass::text AS name, c.relname, NULL AS attname, a.grantee, a.privilege_type
    FROM lockstep l
    JOIN pg_class c ON c.relnamespace = l.oid
    CROSS JOIN LATERAL aclexplode(c.relacl) AS a
    UNION
    SELECT c.oid::regclass::text, c.relname, t.attname, a.grantee, a.privilege_type
    FROM lockstep l
    JOIN pg_class c ON c.relnamespace = l.oid
    JOIN pg_attribute t ON t.attrelid = c.oid CROSS JOIN LATERAL aclexplode(t.attacl) AS a),
secrets (relname, attname, reader) AS ( -- a login that reads a token can end another task's attempt
    SELECT 'task', 'token', l.executor FROM lockstep l
    UNION ALL
    SELECT 'console_token', 'hash', l.owner FROM lockstep l
    UNION ALL -- or fire a job with rows of its own
    SELECT 'job_ask', 'token', l.owner FROM lockstep l
    UNION ALL -- or publish something else as a run to come, whose id follows from it
    SELECT 'schedule', 'schedule_uid', l.owner FROM lockstep l),
judged AS (
    SELECT g.*, CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END AS who,
           CASE WHEN g.privilege_type IN ('REFERENCES', 'TRIGGER') THEN true
                WHEN g.privilege_type = 'SELECT'
                    THEN EXISTS (SELECT FROM secrets s
                                 WHERE s.relname = g.relname AND s.attname = COALESCE(g.attname, s.attname)
                                   AND s.reader <> g.grantee)
                WHEN g.grantee = l.executor THEN false
                WHEN g.grantee = l.operator AND g.relname = 'queue' THEN g.privilege_type = 'TRUNCATE'
                WHEN g.grantee = l.operator AND g.relname = 'event_log' AND g.privilege_type = 'INSERT'
                    THEN g.attname IS NULL OR g.attname NOT IN ('event', 'queue_id', 'detail')
                ELSE g.privilege_type IN ('INSERT', 'UPDATE', 'DELETE', 'TRUNCATE') END AS harmful
    FROM granted g CROSS JOIN lockstep l
    WHERE g.grantee <> l.owner),
found (grade, created, subject, finding, hint) AS (
    SELECT 1, true, 'create', format('%s, which runs task SQL, may create in schema %s', t.rolname, n.nspname),
           format('REVOKE CREATE ON SCHEMA %I FROM %s;', n.nspname,
                  (SELECT string_agg(CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END, ', ')
                   FROM aclexplode(COALESCE(n.nspacl, acldefault('n', n.nspowner))) AS a
                   WHERE a.privilege_type = 'CREATE' AND (a.grantee = 0 OR pg_has_role(t.oid, a.grantee, 'USAGE'))))
    FROM tasks t, pg_namespace n
    WHERE n.nspname = 'public' AND has_schema_privilege(t.oid, n.oid, 'CREATE') AND NOT t.rolsuper
      AND n.nspowner <> t.oid
    UNION ALL
    SELECT 1, true, 'create',
           format('%s, which runs task SQL, may create schemas, also one of the name of another login', t.rolname),
           format('REVOKE CREATE ON DATABASE %I FROM %s;', d.datname,
                  (SELECT string_agg(CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END, ', ')
                   FROM aclexplode(COALESCE(d.datacl, acldefault('d', d.datdba))) AS a
                   WHERE a.privilege_type = 'CREATE' AND (a.grantee = 0 OR pg_has_role(t.oid, a.grantee, 'USAGE'))))
    FROM tasks t, lockstep l JOIN pg_database d ON d.oid = l.database
    WHERE has_database_privilege(t.oid, d.oid, 'CREATE') AND NOT t.rolsuper
    UNION ALL
    SELECT 2, false, 'members', format('%s, which runs task SQL, is a member of %s', t.rolname, r.rolname),
           (SELECT string_agg(m.undone, ' ' ORDER BY m.undone)
            FROM memberships m JOIN pg_roles g ON g.oid = m.roleid
            WHERE m.member IN (t.oid, l.task) AND m.roleid <> l.task AND pg_has_role(t.oid, m.member, 'MEMBER')
              AND (g.oid = r.oid OR (NOT g.rolsuper AND pg_has_role(g.oid, r.oid, 'MEMBER'))))
           || ' -- it needs lockstep_task only'
    FROM lockstep l CROSS JOIN tasks t JOIN pg_roles r ON r.oid <> t.oid AND pg_has_role(t.oid, r.oid, 'MEMBER')
    WHERE NOT t.rolsuper
      AND (r.rolsuper OR r.rolcreaterole
           OR r.rolname IN (
               'lockstep_owner', 'lockstep_executor', 'lockstep_operator', 'lockstep_producer', 'lockstep_worker',
               'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files',
               'pg_signal_backend', 'pg_maintain', 'pg_write_all_data', 'pg_read_all_data'))
    UNION ALL
    SELECT 2, false, 'members',
           format('%s, which runs task SQL, %s', t.rolname,
                  CASE WHEN t.rolsuper THEN 'is a superuser' ELSE 'may make roles' END),
           'Run task SQL as a plain login role: [postgres] task_conninfo.'
    FROM tasks t WHERE t.rolsuper OR t.rolcreaterole
    UNION ALL
    SELECT 2, false, 'members', format('the group role %s is a member of %s', g.rolname, r.rolname),
           string_agg(m.undone, ' ' ORDER BY m.undone)
    FROM memberships m JOIN groups g ON g.oid = m.member JOIN pg_roles r ON r.oid = m.roleid
    WHERE NOT (g.rolname = 'lockstep_executor' AND r.rolname = 'lockstep_task')
      AND NOT (r.rolname IN ('pg_read_all_stats', 'pg_monitor') -- as sessions_hidden advises
               AND g.rolname IN ('lockstep_executor', 'lockstep_producer', 'lockstep_operator', 'lockstep_monitor'))
    GROUP BY g.rolname, r.rolname
    UNION ALL
    SELECT 2, false, 'roles',
           format('the group role %s is no plain group role (it may log in, make roles, replicate, pass row security, '
                  'or is a superuser)',
                  g.rolname),
           format('ALTER ROLE %I NOLOGIN NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS;', g.rolname)
    FROM groups g WHERE g.rolsuper OR g.rolcreaterole OR g.rolcanlogin OR g.rolbypassrls OR g.rolreplication
    UNION ALL
    SELECT 2, false, 'owner', format('schema lockstep belongs to %s', l.nspowner::regrole),
           'ALTER SCHEMA lockstep OWNER TO lockstep_owner;'
    FROM lockstep l WHERE l.nspowner <> l.owner
    UNION ALL
    SELECT 2, false, 'owner', format('%s belongs to %s', c.oid::regclass, c.relowner::regrole),
           format('ALTER TABLE %s OWNER TO lockstep_owner;', c.oid::regclass)
    FROM lockstep l JOIN pg_class c ON c.relnamespace = l.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    WHERE c.relowner <> l.owner
    UNION ALL
    SELECT 2, false, 'owner', format('function %s belongs to %s', p.oid::regprocedure, p.proowner::regrole),
           format('ALTER FUNCTION %s OWNER TO lockstep_owner;', p.oid::regprocedure)
    FROM lockstep l JOIN pg_proc p ON p.pronamespace = l.oid WHERE p.proowner <> l.owner
    UNION ALL
    SELECT 2, false, 'functions',
           format('PUBLIC may execute %s, which has the rights of its owner', p.oid::regprocedure),
           format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC;', p.oid::regprocedure)
    FROM lockstep l JOIN pg_proc p ON p.pronamespace = l.oid AND p.prosecdef
    WHERE EXISTS (SELECT FROM aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) a
                  WHERE a.grantee = 0 AND a.privilege_type = 'EXECUTE')
    UNION ALL
    SELECT 2, false, 'grants',
           format('%s may create in schema lockstep',
                  CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END),
           format('REVOKE CREATE ON SCHEMA lockstep FROM %s;',
                  CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END)
    FROM lockstep l CROSS JOIN LATERAL aclexplode(l.nspacl) AS a
    WHERE a.privilege_type = 'CREATE' AND a.grantee <> l.owner
    UNION ALL
    SELECT 2, false, 'grants',
           format('%s has %s on %s%s', g.who, g.privilege_type, g.name, ' (' || g.attname || ')'),
           format('REVOKE %s%s ON %s FROM %s;%s -- or trust it as lockstep_owner', g.privilege_type,
                  ' (' || quote_ident(g.attname) || ')', g.name, g.who, k.again)
    FROM judged g
    LEFT JOIN LATERAL ( -- REVOKE takes the right on each column, too
        SELECT format(' GRANT %s (%s) ON %s TO %s;', g.privilege_type,
                      string_agg(quote_ident(c.attname), ', ' ORDER BY c.attname), g.name, g.who) AS again
        FROM judged c
        WHERE g.attname IS NULL AND c.name = g.name AND c.grantee = g.grantee
          AND c.privilege_type = g.privilege_type AND c.attname IS NOT NULL AND NOT c.harmful
        HAVING count(*) > 0) AS k ON true
    WHERE g.harmful
    UNION ALL
    SELECT 2, false, 'triggers', format('trigger %s on %s runs %s', t.tgname, c.oid::regclass, t.tgfoid::regprocedure),
           format('DROP TRIGGER %I ON %s;', t.tgname, c.oid::regclass)
    FROM lockstep l
    JOIN pg_class c ON c.relnamespace = l.oid
    JOIN pg_trigger t ON t.tgrelid = c.oid AND NOT t.tgisinternal
    JOIN pg_proc p ON p.oid = t.tgfoid WHERE p.pronamespace <> l.oid
    UNION ALL
    SELECT 1, false, 'settings',
           format('%s has settings of its own%s: %s', r.rolname, CASE WHEN s.setdatabase <> 0 THEN ' here' ELSE '' END,
                  array_to_string(s.setconfig, ', ')),
           format('ALTER ROLE %I%s RESET ALL; -- if that is not meant: task SQL may set them, too (ALTER ROLE '
                  'CURRENT_USER SET)',
                  r.rolname,
                  CASE WHEN s.setdatabase <> 0 THEN format(' IN DATABASE %I', current_database()) ELSE '' END)
    FROM pg_db_role_setting s JOIN tasks r ON r.oid = s.setrole CROSS JOIN lockstep l
    WHERE s.setdatabase IN (0, l.database)
    UNION ALL
    SELECT 1, false, 'settings',
           format('%s SET role is set, which sessions of Lockstep do not follow', w.change), w.change || ' RESET role;'
    FROM lockstep l
    JOIN pg_db_role_setting s ON s.setdatabase IN (0, l.database)
    LEFT JOIN pg_roles r ON r.oid = s.setrole
    CROSS JOIN LATERAL (
        SELECT CASE WHEN s.setrole = 0 AND s.setdatabase <> 0 THEN format('ALTER DATABASE %I', current_database())
                    ELSE format('ALTER ROLE %s%s', COALESCE(quote_ident(r.rolname), 'ALL'),
                                CASE WHEN s.setdatabase <> 0
                                         THEN format(' IN DATABASE %I', current_database()) END) END AS change) AS w
    WHERE EXISTS (SELECT FROM unnest(s.setconfig) c WHERE c LIKE 'role=%')
      AND (s.setrole = 0 OR (pg_has_role(r.oid, l.task, 'MEMBER') AND NOT r.rolsuper))
    UNION ALL
    SELECT 1, false, 'advisory locks', 'any login may take the locks of Lockstep and so hold its executors up',
           'Run what this prints: lockstep migrate roles --show-sql --advisory'
    FROM pg_proc p
    WHERE p.oid = 'pg_catalog.pg_advisory_lock(int, int)'::regprocedure
      AND EXISTS (SELECT FROM aclexplode(COALESCE(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0))
SELECT f.grade, f.subject, f.finding, f.hint
FROM found f
WHERE NOT $2::bool OR f.created
ORDER BY f.grade DESC, f.subject, f.finding;
