-- reader_granted :one  whether this login may record an attempt: its name, the functions refused to it, or NULL; lacks:
-- its membership in the group, the inheritance, or a right of the group itself that was revoked
-- Every name and operator is qualified: see session_server.
-- columns: login, refused, lacks
-- words of lacks: group, inherit, schema, function
SELECT session_user::pg_catalog.text AS login,
       (SELECT pg_catalog.string_agg(pg_catalog.format('lockstep.%I', p.proname), ', ' ORDER BY p.proname)
        FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
        WHERE n.nspname OPERATOR(pg_catalog.=) 'lockstep'
          AND p.proname OPERATOR(pg_catalog.=) ANY (ARRAY[
              'action_begin', 'action_complete', 'action_fail', 'action_step', 'complete', 'definitions_changed',
              'fail', 'step_begin', 'step_done']::pg_catalog.name[])
          AND NOT (pg_catalog.has_schema_privilege(n.oid, 'USAGE')
                   AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE'))) AS refused,
       CASE WHEN NOT pg_catalog.pg_has_role('lockstep_task', 'MEMBER') THEN 'group'
            WHEN NOT pg_catalog.pg_has_role('lockstep_task', 'USAGE') THEN 'inherit'
            WHEN NOT pg_catalog.has_schema_privilege('lockstep', 'USAGE') THEN 'schema' ELSE 'function' END AS lacks;
