-- reader_granted :one  whether this login may record an attempt: its name, and a function refused to it, or NULL
-- Every name and operator is qualified: see session_server.
-- columns: login, refused
SELECT session_user::pg_catalog.text AS login,
       (SELECT pg_catalog.min(p.proname::pg_catalog.text)
        FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
        WHERE n.nspname OPERATOR(pg_catalog.=) 'lockstep'
          AND p.proname OPERATOR(pg_catalog.=) ANY (ARRAY[
              'action_begin', 'action_complete', 'action_fail', 'action_step', 'complete', 'definitions_changed',
              'fail', 'step_begin', 'step_done']::pg_catalog.name[])
          AND NOT (pg_catalog.has_schema_privilege(n.oid, 'USAGE')
                   AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE'))) AS refused;
