-- What operators have asked for, and who. What is asked for while a task runs stands in the rows until its executor has obeyed.
ALTER TABLE lockstep.run
    ADD COLUMN paused_by text,         -- held by an operator: nothing of it starts. A run that its policy has paused has none
    ADD COLUMN paused_at timestamptz,
    ADD COLUMN cancelled_by text,      -- everything of it is cancelled; it ends when what was running has stopped
    ADD COLUMN cancelled_at timestamptz,
    ADD COLUMN stop_kept bigint;       -- of a cancelled run: what stop_after would be if it were not
ALTER TABLE lockstep.task ADD COLUMN cancelled_by text; -- an operator has cancelled it; while it runs: it is to be stopped
ALTER TABLE lockstep.executor
    ADD COLUMN readers_limit int CHECK (readers_limit BETWEEN 0 AND readers), -- NULL: all that it was started with
    ADD COLUMN drain_by text,          -- an operator wants it to end, as SIGTERM does
    ADD COLUMN drain_at timestamptz;
GRANT SELECT (cancelled_by) ON lockstep.task TO lockstep_producer, lockstep_operator, lockstep_monitor;

INSERT INTO lockstep.status_transition VALUES
    ('Cancelled', 'Completed', 'declared done by an operator'),
    ('Terminated', 'Completed', 'declared done by an operator');
