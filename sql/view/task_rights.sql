-- view_task_rights :one  the tables of lockstep that this session, which runs task SQL, may change
-- columns: writable
SELECT COALESCE((SELECT string_agg(c.relname, ', ' ORDER BY c.relname)
                 FROM pg_class c
                 WHERE c.relnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = 'lockstep')
                   AND c.relkind IN ('r', 'p') AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE')),
                '') AS writable;
