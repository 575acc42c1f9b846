-- executor_sessions :none  notes sessions of an executor: executor_no, pids, backend starts, kinds
INSERT INTO lockstep.executor_session (executor_no, pid, backend_start, kind)
SELECT $1::int, s.pid, s.backend_start, s.kind
FROM ROWS FROM (unnest($2::int[]), unnest($3::timestamptz[]), unnest($4::text[])) AS s (pid, backend_start, kind)
ON CONFLICT DO NOTHING;
