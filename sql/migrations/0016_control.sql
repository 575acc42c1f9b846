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

-- Why something waits (sql/functions/explain*.sql), and what a person does about it. QUEUE, RUN, TASK, EXECUTOR, OTHER and PID stand
-- for the names of what is in the way.
CREATE TABLE lockstep.wait_reason (
    reason text PRIMARY KEY,
    meaning text NOT NULL,
    helps text NOT NULL
);
INSERT INTO lockstep.wait_reason (reason, meaning, helps) VALUES
    ('queue_halted', 'the topic is not what it was, or Kafka refuses',
     'See: lockstep queue show QUEUE'),
    ('queue_paused', 'an operator holds the queue',
     'lockstep queue resume QUEUE'),
    ('no_executor', 'nobody works for the queue',
     'lockstep executor run --queue QUEUE'),
    ('executor_silent', 'an executor holds its locks and does not stir',
     'It is taken over by another executor after a few seconds, if there is one. To end it by hand, see OPERATING: An executor hangs'),
    ('executors_drain', 'all executors of the queue are ending',
     'lockstep executor run --queue QUEUE'),
    ('executors_without_readers', 'all executors of the queue have been told to use no reader',
     'lockstep executor set EXECUTOR --readers N'),
    ('no_readers', 'the queues bound is 0',
     'lockstep queue set QUEUE --max-readers N'),
    ('readers_busy', 'all slots of the queue are in use',
     'lockstep queue set QUEUE --max-readers N, or wait; lockstep task list --queue QUEUE --status Processing'),
    ('slots_kept', 'a dead executors session still runs in a slot',
     'It is free when that session has ended. To end it: SELECT pg_terminate_backend(PID)'),
    ('blocked_by_transaction', 'an open Kafka transaction holds back what lies behind it',
     'It ends with its producer, or is aborted by the broker after transaction.timeout.ms; lockstep queue show QUEUE'),
    ('lookahead', 'enough phases wait to be opened',
     'Nothing: it goes on when the next phase opens; lockstep queue set QUEUE --lookahead N claims more ahead'),
    ('queue_idle', 'nothing waits',
     'Nothing has to be done.'),
    ('run_ended', 'it is over',
     'Nothing has to be done; lockstep run retry RUN tries again what failed.'),
    ('run_unclaimed', 'nothing of the run is claimed yet',
     'Nothing: it is claimed when the runs before it are done; lockstep queue explain QUEUE'),
    ('run_publishing', 'its producer has not finished',
     'See whether its producer lives: lockstep lock list. lockstep publish --resume RUN goes on for a dead one, the next publish closes it'),
    ('run_end_missing', 'its end is still on the topic',
     'Nothing: it ends when its end is claimed; lockstep queue explain QUEUE'),
    ('run_paused', 'an operator holds the run',
     'lockstep run resume RUN'),
    ('run_paused_by_failure', 'a task failed, and the policy of the run is to wait for an operator',
     'lockstep run retry RUN tries it again, lockstep run resume RUN goes on without it, lockstep run cancel RUN gives up'),
    ('run_stopping', 'the run is cancelled, some of its tasks still run',
     'Nothing: their statements are being cancelled, after 5 s their sessions are cut off'),
    ('run_before', 'the runs of the queue are serial',
     'Wait for it, or: lockstep run cancel OTHER'),
    ('run_replay', 'a replay is going over it',
     'lockstep replay --queue QUEUE --resume N goes on with one that was interrupted, --abandon N gives it up'),
    ('phase_before', 'phases are strictly ordered',
     'Nothing: it opens when those tasks are finished'),
    ('task_running', 'it runs',
     'lockstep task cancel TASK stops it'),
    ('task_blocked', 'it runs, and waits for a lock of another session',
     'End that transaction: SELECT pg_terminate_backend(PID). Or: lockstep task cancel TASK'),
    ('task_stopping', 'an operator has cancelled it while it ran',
     'Nothing: its statement is being cancelled, after 5 s its session is cut off'),
    ('task_retry_later', 'its last attempt failed, the next one is due later',
     'lockstep task retry TASK tries it now, lockstep task fail TASK gives it up, lockstep task complete TASK declares it done'),
    ('task_not_before', 'it may not start yet',
     'Nothing: it starts then'),
    ('task_in_hand', 'an executor has it and will start it',
     'Nothing: it starts when a reader is free'),
    ('task_unowned', 'it may start, and no executor has taken it',
     'An executor that has a free reader takes it within a second or two; lockstep queue explain QUEUE'),
    ('task_paused', 'an operator holds it',
     'lockstep task cancel TASK'),
    ('task_finished', 'it is over',
     'lockstep task retry TASK tries again what failed or was cancelled');
GRANT SELECT ON lockstep.wait_reason TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
CREATE TYPE lockstep.explanation AS (reason text, sentence text, about text, since timestamptz, helps text);
