-- queue_readers :many  the executors that serve queue $1
-- columns: executor_id, host, pid, readers, in_use, heartbeat_at, started_at, version
SELECT r.executor_id, r.host, r.pid, r.readers, r.in_use, r.heartbeat_at, r.started_at, r.version
FROM lockstep.reader_status r
WHERE r.queue = $1::text AND r.executor_id IS NOT NULL
ORDER BY r.started_at;
