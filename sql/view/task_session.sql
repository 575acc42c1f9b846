-- view_task_session :one  whether this login may end sessions of login $2, of which $1 is one, and see when they began:
-- both are needed to take over the work of a dead executor
-- columns: seen, may_end
SELECT COALESCE((SELECT a.backend_start IS NOT NULL FROM pg_stat_activity a WHERE a.pid = $1::int), false) AS seen,
       COALESCE((SELECT pg_has_role(session_user, r.oid, 'USAGE')
                        OR (NOT r.rolsuper AND pg_has_role(session_user, 'pg_signal_backend', 'USAGE'))
                 FROM pg_roles r WHERE r.rolname = $2::text), false) AS may_end;
