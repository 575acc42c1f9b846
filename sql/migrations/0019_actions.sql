-- Tasks outside the database: commands and requests. What a task needs is noted when an executor was not able to do it, and what an
-- executor lacks, when it met such a task: adopt brings them together.
ALTER TABLE lockstep.task ADD COLUMN needs text; -- 'command:NAME' or 'http:HOST:PORT'; NULL: not asked yet
GRANT SELECT (needs) ON lockstep.task TO lockstep_producer, lockstep_operator, lockstep_monitor;
ALTER TABLE lockstep.executor ADD COLUMN unable text[] NOT NULL DEFAULT '{}'; -- of needs
INSERT INTO lockstep.wait_reason (reason, meaning, helps) VALUES
    ('task_nobody_able', 'no executor of the queue knows the command, or may call the host, that a task needs',
     'Put NEED into [commands] or [http] allow of an executor and start it again; or: lockstep task cancel TASK');
