-- reader_granted :one  whether this login may record an attempt: its name; the functions that the schema does not have
-- with these parameters, or NULL; those refused to the login, or NULL; lacks: its membership in the group, the
-- inheritance, or a right of the group itself that was revoked
-- Every name and operator is qualified: see session_server. to_regprocedure() would need the right on the schema.
-- columns: login, missing, refused, lacks
-- words of lacks: group, inherit, schema, function
WITH called (name, parameters) AS (VALUES
    ('action_begin', 'bigint, uuid, boolean'),
    ('action_complete', 'bigint, uuid, text'),
    ('action_fail', 'bigint, uuid, boolean, bigint, text, text, text, text, text, text, integer'),
    ('action_step', 'bigint, uuid, text, text'),
    ('complete', 'bigint, uuid, timestamp with time zone'),
    ('definitions_changed', 'boolean'),
    ('fail', 'bigint, uuid, boolean, bigint, text, text, text, text, text, boolean'),
    ('step_begin', 'bigint, uuid, text'),
    ('step_done', 'bigint, uuid, text')),
found AS (
    SELECT c.name, c.parameters, n.oid AS schema_oid, p.oid
    FROM called c LEFT JOIN (pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n
                             ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
                                AND n.nspname OPERATOR(pg_catalog.=) 'lockstep')
         ON p.proname OPERATOR(pg_catalog.=) c.name::pg_catalog.name
            AND pg_catalog.oidvectortypes(p.proargtypes) OPERATOR(pg_catalog.=) c.parameters)
SELECT session_user::pg_catalog.text AS login,
       (SELECT pg_catalog.string_agg(pg_catalog.format('lockstep.%s(%s)', f.name, f.parameters), ', ' ORDER BY f.name)
        FROM found f WHERE f.oid IS NULL) AS missing,
       (SELECT pg_catalog.string_agg(pg_catalog.format('lockstep.%I', f.name), ', ' ORDER BY f.name)
        FROM found f WHERE NOT (pg_catalog.has_schema_privilege(f.schema_oid, 'USAGE')
                                AND pg_catalog.has_function_privilege(f.oid, 'EXECUTE'))) AS refused,
       CASE WHEN NOT pg_catalog.pg_has_role('lockstep_task', 'MEMBER') THEN 'group'
            WHEN NOT pg_catalog.pg_has_role('lockstep_task', 'USAGE') THEN 'inherit'
            WHEN NOT pg_catalog.has_schema_privilege('lockstep', 'USAGE') THEN 'schema' ELSE 'function' END AS lacks;
