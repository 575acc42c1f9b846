-- The sessions of an executor, so that whoever takes over its work ends what is left of it first. A backend is named by pid
-- and backend_start: a pid alone is used again.
CREATE TABLE lockstep.executor_session (
    executor_no int NOT NULL REFERENCES lockstep.executor ON DELETE CASCADE,
    pid int NOT NULL,
    backend_start timestamptz NOT NULL,
    kind text NOT NULL CHECK (kind IN ('control', 'liveness', 'gate', 'reader')),
    PRIMARY KEY (executor_no, pid, backend_start)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON lockstep.executor_session TO lockstep_executor;
GRANT SELECT ON lockstep.executor_session TO lockstep_operator, lockstep_monitor;

-- Attempts that may be lost, not failed: a task that kills its server every time must come to an end.
ALTER TABLE lockstep.queue ADD COLUMN max_lost int NOT NULL DEFAULT 5 CHECK (max_lost BETWEEN 1 AND 1000);

-- Owns work: then the others look at its heartbeat every second.
ALTER TABLE lockstep.executor ADD COLUMN busy boolean NOT NULL DEFAULT false;
