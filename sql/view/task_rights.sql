-- view_task_rights :one  whether this session, which runs task SQL, may touch lockstep's own tables
-- columns: usage, writable
SELECT has_schema_privilege('lockstep', 'USAGE') AS usage,
       COALESCE((SELECT string_agg(c.relname, ', ' ORDER BY c.relname)
                 FROM pg_class c
                 WHERE c.relnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = 'lockstep')
                   AND c.relkind IN ('r', 'p') AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE')),
                '') AS writable;
