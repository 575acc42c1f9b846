-- Who may what. lockstep_task: no right on any table; it may execute the two functions that end the attempt whose token
-- it holds (sql/functions/complete.sql, fail.sql), and nothing else.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA lockstep TO lockstep_executor;
REVOKE INSERT, UPDATE, DELETE ON lockstep.migration, lockstep.function_version, lockstep.task_status,
    lockstep.status_transition, lockstep.task_type FROM lockstep_executor;
GRANT SELECT ON lockstep.queue, lockstep.run, lockstep.run_status, lockstep.phase_status, lockstep.execution_log,
    lockstep.phase, lockstep.task_status, lockstep.rejected TO lockstep_producer;
GRANT INSERT, UPDATE ON lockstep.run TO lockstep_producer;
GRANT INSERT ON lockstep.event_log TO lockstep_producer;
GRANT SELECT ON ALL TABLES IN SCHEMA lockstep TO lockstep_operator, lockstep_monitor;
-- All of a task but its token: who reads that and is a member of lockstep_task, too, could end an attempt of another's.
REVOKE SELECT ON lockstep.task FROM lockstep_operator, lockstep_monitor;
GRANT SELECT (task_id, phase_id, run_no, queue_id, status, type, "order", seq, kafka_offset, name, payload, traceparent,
        executor_no, attempt_num, max_attempts, lost_num, step, response, error, scheduled_for, started_at, duration, updated_at)
    ON lockstep.task TO lockstep_producer, lockstep_operator, lockstep_monitor;
GRANT INSERT, UPDATE, DELETE ON lockstep.queue TO lockstep_operator;
GRANT INSERT ON lockstep.event_log TO lockstep_operator;
