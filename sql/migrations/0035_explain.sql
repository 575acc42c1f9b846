-- The session in which an attempt runs: written with the mark that shows it as running (executor_mark_processing), or by the statement
-- that begins it, so it costs no statement of its own. It holds while the task is Processing.
ALTER TABLE lockstep.task ADD COLUMN backend_pid int;
GRANT SELECT (backend_pid) ON lockstep.task TO lockstep_producer, lockstep_operator, lockstep_monitor;

-- The order in which explain prints reasons: what a person can act on comes first.
ALTER TABLE lockstep.wait_reason ADD COLUMN rank int NOT NULL DEFAULT 30;
INSERT INTO lockstep.wait_reason (reason, meaning, helps, rank) VALUES
    ('standby', 'executors and their sessions cannot be seen on a standby',
     'Ask the primary: lockstep ... -d "host=... target_session_attrs=read-write"', 0),
    ('nothing_waits', 'it goes on',
     'Nothing has to be done.', 60),
    ('sessions_hidden', 'the login may not see the sessions of other logins',
     'GRANT pg_read_all_stats TO LOGIN', 13),
    ('executor_cut_off', 'an executor lives and cannot reach Kafka',
     'On HOST: lockstep check; it continues by itself when the broker answers', 16),
    ('task_blocked_prepared', 'it runs, and waits for a lock of a prepared transaction',
     'In database DATABASE: ROLLBACK PREPARED ''GID'' (or COMMIT PREPARED ''GID''). Or: lockstep task cancel TASK', 12),
    ('task_blocked_task', 'it runs, and waits for a lock of another task',
     'Wait for it, or: lockstep task cancel OTHER', 12);
UPDATE lockstep.wait_reason w SET helps = v.helps
FROM (VALUES ('queue_halted', 'REMEDY'),
             ('executor_silent', 'On HOST: kill -CONT PID lets it continue; kill -KILL PID ends it, and another executor takes over (lockstep executor run --queue QUEUE)'),
             ('task_nobody_able', 'Add NEED to [commands] or [http] allow in the configuration of an executor, then: kill -HUP PID (on HOST). Or: lockstep task cancel TASK'),
             ('blocked_by_transaction', 'Find its producer: kafka-transactions.sh --bootstrap-server BROKER describe-producers --topic TOPIC --partition PARTITION. It ends with that producer, '
                                        'or the broker aborts it after its transaction.timeout.ms'),
             ('task_not_before', 'Nothing has to be done: it starts then. To start it now: lockstep task retry TASK'),
             ('run_unclaimed', 'Nothing has to be done while an executor works for the queue: it claims the run when those before it are done')) AS v (reason, helps)
WHERE v.reason = w.reason;
UPDATE lockstep.wait_reason w SET rank = v.rank
FROM (VALUES ('queue_halted', 10), ('queue_paused', 11), ('run_paused', 12), ('run_paused_by_failure', 12), ('task_blocked', 12),
             ('no_executor', 14), ('executors_drain', 14), ('executors_without_readers', 14), ('no_readers', 14), ('executor_silent', 16),
             ('blocked_by_transaction', 18), ('run_stopping', 20), ('run_replay', 20), ('slots_kept', 22), ('task_nobody_able', 24),
             ('task_paused', 24), ('task_retry_later', 26), ('task_not_before', 26), ('task_offered', 28), ('task_with_worker', 28),
             ('run_before', 35), ('run_before_stopping', 35), ('run_before_endless', 13), ('run_abandoned', 25), ('run_end_missing', 25),
             ('run_unclaimed', 34), ('run_publishing', 34), ('run_end_unclaimed', 34), ('task_stopping', 36), ('readers_busy', 37), ('task_running', 38), ('task_in_hand', 44),
             ('lookahead', 46), ('phase_before', 50), ('queue_idle', 60)) AS v (reason, rank)
WHERE v.reason = w.reason;

-- Of an executor: what keeps it from work while it lives, written with its heartbeat; and what ended it, if it could still say so.
ALTER TABLE lockstep.executor
    ADD COLUMN trouble text,           -- it cannot reach Kafka: why. NULL: it can
    ADD COLUMN trouble_at timestamptz, -- since when
    ADD COLUMN ended_error text;

DROP FUNCTION IF EXISTS lockstep.explain_backend; -- its parameters have changed; the functions are applied after this
