-- executor_register :one  a new incarnation: executor_id, host, pid, version, readers, queues; its number and its lock
INSERT INTO lockstep.executor (executor_id, host, pid, version, readers, queues)
VALUES ($1::uuid, $2::text, $3::int, $4::text, $5::int, $6::text[])
RETURNING executor_no, pg_catalog.pg_try_advisory_lock(1280507907, executor_no);
