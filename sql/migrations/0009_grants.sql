-- Who may what. lockstep_task: no right on any table; it may execute the two functions that end the attempt whose token
-- it holds (sql/functions/complete.sql, fail.sql), and nothing else.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA lockstep TO lockstep_executor;
REVOKE INSERT, UPDATE, DELETE ON lockstep.migration, lockstep.function_version, lockstep.task_status,
    lockstep.status_transition, lockstep.task_type FROM lockstep_executor;
GRANT SELECT ON lockstep.queue, lockstep.run, lockstep.run_status, lockstep.phase_status, lockstep.execution_log,
    lockstep.phase, lockstep.task, lockstep.task_status, lockstep.rejected TO lockstep_producer;
GRANT INSERT, UPDATE ON lockstep.run TO lockstep_producer;
GRANT INSERT ON lockstep.event_log TO lockstep_producer;
GRANT SELECT ON ALL TABLES IN SCHEMA lockstep TO lockstep_operator, lockstep_monitor;
GRANT INSERT, UPDATE, DELETE ON lockstep.queue TO lockstep_operator;
GRANT INSERT ON lockstep.event_log TO lockstep_operator;
