-- For how long a heartbeat may stand still: each executor's own setting, so that it is called frozen neither too early nor too late.
ALTER TABLE lockstep.executor ADD COLUMN frozen_after interval NOT NULL DEFAULT interval '10 seconds';

-- Queues that an executor has set aside because their own statements fail: explain says why, and when the executor tries again.
CREATE TABLE lockstep.executor_aside (
    executor_no int NOT NULL REFERENCES lockstep.executor ON DELETE CASCADE,
    queue_id int NOT NULL, -- no foreign key: whoever notes its trouble must not wait for the queue's row
    since timestamptz NOT NULL DEFAULT clock_timestamp(),    -- the first failure
    failed_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- the latest one
    until_at timestamptz, -- when the executor tries again. NULL: it has no other queue, and begins anew after each failure
    error text NOT NULL,
    PRIMARY KEY (queue_id, executor_no)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON lockstep.executor_aside TO lockstep_executor;
GRANT SELECT ON lockstep.executor_aside TO lockstep_producer, lockstep_operator, lockstep_monitor;

INSERT INTO lockstep.wait_reason (reason, meaning, helps, rank) VALUES
    ('queue_set_aside', 'an executor cannot work on the queue: its statements for it fail',
     'Mend what the error names; the executor tries again by itself', 15),
    ('locks_taken', 'a session that is none of an executor holds locks of phases',
     'SELECT pg_terminate_backend(PID). What keeps others from these locks: lockstep migrate roles --show-sql --advisory', 12);
UPDATE lockstep.wait_reason SET helps = 'lockstep executor run --queue QUEUE. If one was started and cannot connect, its own log says why; on its host: lockstep check'
WHERE reason = 'no_executor';
