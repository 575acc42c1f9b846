-- executor_phase_locks :one  how many locks of phases this session holds
-- columns: locks
SELECT count(*) AS locks FROM pg_catalog.pg_locks l
WHERE l.pid = pg_catalog.pg_backend_pid() AND l.locktype = 'advisory' AND l.classid = lockstep.lock_class('phase')::oid;
