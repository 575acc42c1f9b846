-- migrate_roles :many  what an administrator has to run before login $1 (NULL: this one) can migrate: statement, is it
-- missing? In order
-- columns: statement, missing
WITH roles AS (
    SELECT w.n, w.name, r.oid
    FROM unnest(ARRAY['lockstep_owner', 'lockstep_executor', 'lockstep_task', 'lockstep_producer',
        'lockstep_operator', 'lockstep_monitor', 'lockstep_worker']) WITH ORDINALITY AS w (name, n)
    LEFT JOIN pg_roles r ON r.rolname = w.name),
who AS (
    SELECT COALESCE($1::text, session_user::text) AS name,
           (SELECT r.oid FROM pg_roles r WHERE r.rolname = COALESCE($1::text, session_user::text)) AS oid),
named AS (
    SELECT (SELECT oid FROM roles WHERE name = 'lockstep_owner') AS owner,
           (SELECT oid FROM roles WHERE name = 'lockstep_executor') AS executor,
           (SELECT oid FROM roles WHERE name = 'lockstep_task') AS task, current_database() AS db,
           to_regnamespace('lockstep') IS NULL AS fresh,
           -- from PostgreSQL 16 on a member may be one that cannot become the role
           CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END AS become)
SELECT s.statement, s.missing
FROM (
    SELECT 1, r.n, format('CREATE ROLE %I NOLOGIN;', r.name), r.oid IS NULL FROM roles r
    UNION ALL
    SELECT 2, 0, format('CREATE ROLE %I LOGIN;', w.name), w.oid IS NULL FROM who w
    UNION ALL
    SELECT 3, 0, 'GRANT lockstep_task TO lockstep_executor;',
           NOT COALESCE(pg_has_role(n.executor, n.task, 'MEMBER'), false)
    FROM named n
    UNION ALL
    SELECT 4, 0, format('GRANT lockstep_owner TO %I;', w.name),
           NOT COALESCE(pg_has_role(w.oid, n.owner, n.become), false)
    FROM named n, who w
    UNION ALL
    SELECT 5, 0, format('GRANT CREATE ON DATABASE %I TO lockstep_owner;', n.db),
           n.fresh AND NOT COALESCE(has_database_privilege(n.owner, n.db, 'CREATE'), false)
    FROM named n
    UNION ALL
    SELECT 6, 0, format('GRANT CREATE ON DATABASE %I TO %I;', n.db, w.name),
           n.fresh AND NOT COALESCE(has_database_privilege(w.oid, n.db, 'CREATE'), false)
    FROM named n, who w) AS s (part, n, statement, missing)
WHERE s.part <> 2 OR s.missing
ORDER BY s.part, s.n;
