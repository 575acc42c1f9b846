-- executor_aside :none  notes that executor $1 has set queue $2 aside for $3 ms (NULL: it ends this incarnation
-- instead), because of $4
INSERT INTO lockstep.executor_aside (executor_no, queue_id, until_at, error)
VALUES ($1::int, $2::int, clock_timestamp() + $3::int * interval '1 ms', $4::text)
ON CONFLICT (queue_id, executor_no) DO UPDATE SET
    failed_at = clock_timestamp(), until_at = EXCLUDED.until_at, error = EXCLUDED.error;
