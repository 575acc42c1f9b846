-- The vocabulary of a task's life and its legal transitions: the C code (task/status.c), the guard on the table and the
-- documentation are tested against these two tables.
CREATE TYPE lockstep.status AS ENUM ('Pending', 'Processing', 'Error', 'Failed', 'Completed', 'Cancelled', 'Paused',
    'Terminated', 'PartiallyCompleted');

CREATE TABLE lockstep.task_status (
    status lockstep.status PRIMARY KEY,
    is_processable boolean NOT NULL, -- may be started, now or when it is due
    is_finished boolean NOT NULL,    -- counts as done for the phase
    is_editable boolean NOT NULL,    -- an operator may change what it is about to do
    description text NOT NULL
);

INSERT INTO lockstep.task_status VALUES
    ('Pending', true, false, true, 'claimed, not started'),
    ('Processing', false, false, false, 'an attempt is running'),
    ('Error', true, false, true, 'the last attempt failed, another one is due at scheduled_for'),
    ('Failed', false, true, true, 'finally failed: no attempt is left'),
    ('Completed', false, true, false, 'done, and its effect is committed'),
    ('Cancelled', false, true, true, 'not run, because of an operator or of a failure before it'),
    ('Paused', false, false, true, 'held by an operator'),
    ('Terminated', false, true, true, 'stopped by an operator while it ran'),
    ('PartiallyCompleted', false, true, true, 'some of its steps are done, the rest is given up');

CREATE TABLE lockstep.status_transition (
    from_status lockstep.status NOT NULL REFERENCES lockstep.task_status,
    to_status lockstep.status NOT NULL REFERENCES lockstep.task_status,
    why text NOT NULL,
    PRIMARY KEY (from_status, to_status)
);

INSERT INTO lockstep.status_transition VALUES
    ('Pending', 'Processing', 'an attempt runs for longer than a moment'),
    ('Pending', 'Completed', 'a short attempt succeeded'),
    ('Pending', 'Error', 'a short attempt failed, another is due later'),
    ('Pending', 'Failed', 'a short attempt failed for good'),
    ('Pending', 'Cancelled', 'cancelled before it ran'),
    ('Pending', 'Paused', 'held by an operator'),
    ('Processing', 'Pending', 'the attempt was lost; the task waits for another'),
    ('Processing', 'Completed', 'the attempt succeeded'),
    ('Processing', 'Error', 'the attempt failed, another is due later'),
    ('Processing', 'Failed', 'the attempt failed for good'),
    ('Processing', 'Terminated', 'stopped by an operator while it ran'),
    ('Processing', 'PartiallyCompleted', 'some steps are done, the rest is given up'),
    ('Error', 'Pending', 'taken for its next attempt'),
    ('Error', 'Processing', 'its next attempt runs'),
    ('Error', 'Completed', 'its next attempt succeeded at once'),
    ('Error', 'Failed', 'no attempt is left'),
    ('Error', 'Cancelled', 'cancelled while waiting for its next attempt'),
    ('Error', 'Paused', 'held by an operator'),
    ('Paused', 'Pending', 'released by an operator'),
    ('Paused', 'Cancelled', 'cancelled while held'),
    ('Failed', 'Pending', 'retried by an operator'),
    ('Failed', 'Completed', 'declared done by an operator'),
    ('Cancelled', 'Pending', 'retried by an operator'),
    ('Terminated', 'Pending', 'retried by an operator'),
    ('PartiallyCompleted', 'Pending', 'retried by an operator'),
    ('Completed', 'Pending', 'run again by a replay of all');

CREATE TABLE lockstep.task_type (
    type text PRIMARY KEY,
    description text NOT NULL
);
INSERT INTO lockstep.task_type VALUES
    ('sql', 'one or more statements in a transaction of this database'),
    ('command', 'a registered program'),
    ('http', 'a request'),
    ('external', 'done by somebody who asks for it with next_task'),
    ('end', 'the end of a run');
