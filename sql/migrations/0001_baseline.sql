-- The schema of the first release, by rooms: roles, words, queue, executor, run and phase, task, rejected messages,
-- events and outbox, replay, retention, explanations, jobs, alerts, console, rights. sql/schema.sql shows the schema
-- with later migrations.
-- Functions (sql/functions, sql/api) and views (sql/views) are applied after the migrations: a trigger gets an empty
-- function here.

---- Roles

-- The group roles (NOLOGIN; granted to people's own login roles). Roles belong to the whole cluster, so they may be
-- there already, made for another database or by an administrator: then they are verified, not changed.
DO $$
DECLARE
    become CONSTANT text := CASE WHEN pg_catalog.current_setting('server_version_num')::int >= 160000 THEN 'SET'
                                 ELSE 'MEMBER' END;
    wanted text;
    found record;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['lockstep_owner', 'lockstep_executor', 'lockstep_task', 'lockstep_producer',
                                  'lockstep_operator', 'lockstep_monitor', 'lockstep_worker'] LOOP
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = wanted) THEN
                EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', wanted);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL; -- another migrator, on another database of this cluster, was quicker
            WHEN insufficient_privilege THEN
                RAISE EXCEPTION 'role % does not exist and % may not create it', wanted, current_user
                    USING ERRCODE = 'insufficient_privilege',
                          HINT = pg_catalog.format(
                              'As a superuser: CREATE ROLE %I NOLOGIN; then run lockstep migrate up again.', wanted);
        END;
        SELECT rolcanlogin, rolsuper, rolcreaterole INTO found FROM pg_catalog.pg_roles WHERE rolname = wanted;
        IF found.rolsuper OR found.rolcreaterole OR found.rolcanlogin THEN
            RAISE EXCEPTION 'role % is no plain group role (it may log in, create roles, or is a superuser)', wanted
                USING HINT = pg_catalog.format('ALTER ROLE %I NOLOGIN NOSUPERUSER NOCREATEROLE;', wanted);
        END IF;
    END LOOP;

    -- The executor may do what a task may, so that it may cancel and terminate its sessions; the login that migrates
    -- makes everything in the owner's name. From PostgreSQL 16 on the login that creates a role is a member of it, and
    -- may nevertheless not become it. Two migrators, on two databases, may grant at the same time: then it is tried
    -- again.
    FOR try IN 1 .. 10 LOOP
        BEGIN
            IF NOT pg_catalog.pg_has_role('lockstep_executor', 'lockstep_task', 'MEMBER') THEN
                GRANT lockstep_task TO lockstep_executor;
            END IF;
            IF NOT pg_catalog.pg_has_role(current_user, 'lockstep_owner', become) THEN
                EXECUTE pg_catalog.format('GRANT lockstep_owner TO %I', current_user);
            END IF;
            EXIT;
        EXCEPTION
            WHEN unique_violation OR internal_error THEN -- "tuple concurrently updated"
                IF try = 10 THEN
                    RAISE;
                END IF;
        END;
    END LOOP;
END
$$;

-- The schema and everything in it belong to lockstep_owner; nothing is executable by PUBLIC unless granted. The two
-- tables are the migrator's (sql/migrate/ensure.sql).
ALTER SCHEMA lockstep OWNER TO lockstep_owner;
ALTER TABLE lockstep.migration OWNER TO lockstep_owner;
ALTER TABLE lockstep.function_version OWNER TO lockstep_owner;
ALTER DEFAULT PRIVILEGES FOR ROLE lockstep_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
SET LOCAL ROLE lockstep_owner; -- from here on
REVOKE ALL ON SCHEMA lockstep FROM PUBLIC;

---- Words

-- The vocabulary of a task's life and its legal transitions: the guard on task and the documentation are tested against
-- these tables.
CREATE TYPE lockstep.status AS ENUM ('Pending', 'Processing', 'Error', 'Failed', 'Completed', 'Cancelled', 'Paused',
    'Terminated', 'PartiallyCompleted');

CREATE TABLE lockstep.task_status (
    status lockstep.status PRIMARY KEY,
    is_processable boolean NOT NULL, -- may be started, now or when it is due
    is_finished boolean NOT NULL,    -- counts as done for the phase
    is_editable boolean NOT NULL,    -- an operator may change what it is about to do
    description text NOT NULL
);
INSERT INTO lockstep.task_status (status, is_processable, is_finished, is_editable, description) VALUES
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
INSERT INTO lockstep.status_transition (from_status, to_status, why) VALUES
    ('Pending', 'Processing', 'an attempt has run for 50 ms'),
    ('Pending', 'Error', 'a short attempt failed, another is due later'),
    ('Pending', 'Failed', 'a short attempt failed for good'),
    ('Pending', 'Completed', 'a short attempt succeeded'),
    ('Pending', 'Cancelled', 'cancelled before it ran'),
    ('Pending', 'Paused', 'held by an operator'),
    ('Processing', 'Pending', 'the attempt was lost; the task waits for another'),
    ('Processing', 'Error', 'the attempt failed, another is due later'),
    ('Processing', 'Failed', 'the attempt failed for good'),
    ('Processing', 'Completed', 'the attempt succeeded'),
    ('Processing', 'Terminated', 'stopped by an operator while it ran'),
    ('Processing', 'PartiallyCompleted', 'some steps are done, the rest is given up'),
    ('Error', 'Pending', 'taken for its next attempt'),
    ('Error', 'Processing', 'its next attempt runs'),
    ('Error', 'Failed', 'no attempt is left'),
    ('Error', 'Completed', 'its next attempt succeeded at once'),
    ('Error', 'Cancelled', 'cancelled while waiting for its next attempt'),
    ('Error', 'Paused', 'held by an operator'),
    ('Failed', 'Pending', 'retried by an operator'),
    ('Failed', 'Completed', 'declared done by an operator'),
    ('Completed', 'Pending', 'run again by a replay of all'),
    ('Cancelled', 'Pending', 'retried by an operator'),
    ('Cancelled', 'Completed', 'declared done by an operator'),
    ('Paused', 'Pending', 'released by an operator'),
    ('Paused', 'Cancelled', 'cancelled while held'),
    ('Terminated', 'Pending', 'retried by an operator'),
    ('Terminated', 'Completed', 'declared done by an operator'),
    ('PartiallyCompleted', 'Pending', 'retried by an operator');

CREATE TABLE lockstep.task_type (
    type text PRIMARY KEY,
    description text NOT NULL
);
INSERT INTO lockstep.task_type (type, description) VALUES
    ('sql', 'one or more statements in a transaction of this database'),
    ('command', 'a registered program'),
    ('http', 'a request'),
    ('external', 'done by somebody who asks for it with next_task'),
    ('end', 'the end of a run');

---- Queue

-- A queue: one partition, its cursor, its bound. The row is the lock under which every decision about the queue is
-- made: a claim, and every rare change of a run, locks it first and waits for no other lock while it holds it.
-- A trigger checks the values of its columns: a CHECK's text is parsed again in every statement that writes the table,
-- and fifteen of them took longer than the rest of the cursor's move. The trigger is not one of next_offset, which each
-- claim writes.
CREATE TABLE lockstep.queue (
    queue_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    topic text NOT NULL,
    partition int NOT NULL DEFAULT 0,
    next_offset bigint NOT NULL DEFAULT 0,        -- the cursor: everything below it is claimed
    max_readers int NOT NULL DEFAULT 5,
    lookahead int NOT NULL DEFAULT 8,             -- phases claimed beyond the open one
    on_failure text NOT NULL DEFAULT 'stop',
    runs text NOT NULL DEFAULT 'serial',
    max_attempts int,                             -- NULL: default_attempts, else 3
    retry_intervals double precision[] NOT NULL DEFAULT '{1}', -- seconds; the last repeats
    paused boolean NOT NULL DEFAULT false,
    paused_by text,
    paused_at timestamptz,
    -- Identity of the topic: a mismatch halts the queue until an operator accepts it.
    cluster_id text,
    last_offset bigint,                           -- the last claimed data record,
    last_timestamp bigint,                        -- its timestamp (ms since 1970)
    last_digest bytea,                            -- and the digest of its key and value
    halted_reason text,                           -- a word of halt_reason
    halted_detail text,                           -- a sentence
    halted_at timestamptz,
    -- Tag state.
    last_run_no bigint,                           -- the newest run in log order
    implicit_run_no bigint,                       -- the open implicit run
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    max_lost int NOT NULL DEFAULT 5,              -- attempts of a task that may be lost, not failed
    dead_letters boolean NOT NULL DEFAULT true,   -- false: the rows of rejected messages are enough
    -- Identity of the topic, beyond the fingerprint of the last claimed record.
    partitions int,                               -- how many the topic has; NULL: not known yet
    mark uuid,                                    -- its birthmark: metadata of a Kafka group, which goes with the topic
    marked_at timestamptz,                        -- the mark was seen there; NULL: not yet committed
    -- rises when a halt is lifted: a verdict on the topic that is older halts nothing
    halt_no int NOT NULL DEFAULT 0,
    -- an open Kafka transaction holds back this record and those behind it
    blocked_offset bigint,
    blocked_at timestamptz,
    -- The server that the queue was worked on last. The row goes with the database into every copy, so a copy is
    -- noticed: there, nothing of the queue runs until an operator accepts the server.
    server_system text,                           -- system identifier of the cluster; NULL: not worked on yet
    server_database bigint,                       -- oid of the database in it
    server_timeline bigint,                       -- grows with every promotion and every restore
    external_lease interval NOT NULL DEFAULT '5 minutes', -- for how long a worker may be silent
    default_attempts int,                         -- the setting of its executors, as the one that began last has it
    -- Which errors of a task are tried again: classes or codes of SQLSTATE, or all; with a minus: not. The longest that
    -- fits decides.
    retry_on text[] NOT NULL DEFAULT '{all,-0A,-28,-3D,-3F,-42}',
    events boolean NOT NULL DEFAULT false,        -- it writes to the topic <topic>.events
    -- Retention: a run is kept as long as one of the settings keeps it; with none of them, for ever.
    keep_runs int,
    keep_days int,
    keep_failed_days int,                         -- of runs that did not complete; NULL: as the others
    keep_set_by text,                             -- NULL: an executor, from [queue:NAME] of its file
    epoch int NOT NULL DEFAULT 0,                 -- how often the cursor was set back
    -- the record that halted it as unknown_run: once accepted, it does not halt it again
    unknown_at bigint
) WITH (fillfactor = 10); -- one hot row a queue: room for HOT updates
CREATE FUNCTION lockstep.guard_queue() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER guard_queue BEFORE INSERT OR UPDATE OF
    name, partition, max_readers, lookahead, on_failure, runs, max_attempts, default_attempts, max_lost, external_lease,
    retry_on, keep_runs, keep_days, keep_failed_days ON lockstep.queue
FOR EACH ROW EXECUTE FUNCTION lockstep.guard_queue();

-- The reasons for which a queue may be halted, with their remedies for a person. QUEUE is the queue's name. A remedy is
-- a command that is run as it is printed, ended by the text's end or by one of . , ; and a space.
CREATE TABLE lockstep.halt_reason (
    reason text PRIMARY KEY,
    meaning text NOT NULL,
    remedy text NOT NULL
);
INSERT INTO lockstep.halt_reason (reason, meaning, remedy)
VALUES ('topic_deleted', 'the topic is gone',
        'Create the topic again with one partition, then: lockstep queue resume QUEUE --accept-topic --from-offset '
        'earliest'),
       ('topic_replaced', 'the topic''s birthmark is gone: it was deleted and created again',
        'To read the new topic from its beginning: lockstep queue resume QUEUE --accept-topic --from-offset earliest'),
       ('fingerprint', 'another record is where the last claimed one was: the topic was created again or replaced',
        'To read the topic as it is now from its beginning: lockstep queue resume QUEUE --accept-topic --from-offset '
        'earliest'),
       ('retention', 'messages were deleted before they were claimed',
        'Publish the lost runs again. To continue with what is left: lockstep queue resume QUEUE --accept-topic '
        '--from-offset earliest'),
       ('truncated', 'the log ends before the cursor: it lost its tail',
        'Find the runs that were claimed in part. To continue from the log''s end: lockstep queue resume QUEUE '
        '--accept-topic --from-offset latest'),
       ('partitions', 'the topic has another number of partitions',
        'Order holds within one partition. If all producers of this queue still write to its partition: lockstep queue '
        'resume QUEUE --accept-topic'),
       ('other_cluster', 'this is another Kafka cluster',
        'If the brokers were named wrongly, name the right ones, then: lockstep queue resume QUEUE. If the topic moved '
        'here with its offsets: lockstep queue resume QUEUE --accept-topic. If it begins here: lockstep queue resume '
        'QUEUE --accept-topic --from-offset earliest'),
       ('corrupt', 'a record batch is damaged on the broker',
        'Restore it from a replica, then: lockstep queue resume QUEUE. To give up what is not claimed yet: lockstep '
        'queue resume QUEUE --accept-topic --from-offset latest'),
       ('kafka', 'Kafka refuses to be read',
        'Repair what the detail says, then: lockstep queue resume QUEUE'),
       ('unknown_run', 'a run whose first messages were never seen',
        'Publish that run again as another run. To record it as failed and continue behind it: lockstep queue resume '
        'QUEUE --accept-topic'),
       ('rejection_refused', 'the database refuses to keep a record that is no message, even without its bytes',
        'Find the constraint or trigger on lockstep.rejected_message that is not Lockstep''s, and drop it. Then: '
        'lockstep queue resume QUEUE'),
       ('other_server', 'this is another PostgreSQL server, or a copy of the database',
        'If the connection leads to the wrong server, correct it. If this one is meant: lockstep queue resume QUEUE '
        '--accept-server');

---- Executor

-- An executor incarnation: a fresh row per start. It lives as long as its advisory lock is held (class of executors,
-- executor_no).
CREATE TABLE lockstep.executor (
    executor_no int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    executor_id uuid NOT NULL UNIQUE,
    host text NOT NULL,
    pid int NOT NULL,
    version text NOT NULL,
    readers int NOT NULL,
    queues text[] NOT NULL,
    heartbeat bigint NOT NULL DEFAULT 0,          -- a counter: observers judge its standstill by their own clock
    heartbeat_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- for people only
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,
    ended_why text,
    busy boolean NOT NULL DEFAULT false,          -- it owns work: the others check its heartbeat every second
    readers_limit int CHECK (readers_limit >= 0 AND readers_limit <= readers), -- NULL: all that it was started with
    drain_by text,                                -- an operator wants it to end, as SIGTERM does
    drain_at timestamptz,
    -- needs of tasks that its configuration does not allow; see task.needs
    unable text[] NOT NULL DEFAULT '{}',
    trouble text,                                 -- see trouble_kind; NULL: none
    trouble_at timestamptz,                       -- since when
    ended_error text,                             -- the error that ended it, if it could still write it
    frozen_after interval NOT NULL DEFAULT '10 seconds', -- for how long its heartbeat may pause: its own setting
    -- of trouble: login, kafka and writes keep it from work; readers: some of its readers, and the others work
    trouble_kind text,
    -- of its queues, in their order: where the topic ends; NULL: not known
    ends bigint[],
    -- of its queues, in their order: why it cannot read the topic, and since when; NULL: it can
    queue_trouble text[],
    queue_trouble_at timestamptz[],
    memory_bytes bigint,
    login name NOT NULL DEFAULT session_user,     -- of its own sessions, not of its tasks
    signalled text                                -- by signals: held (SIGUSR1), draining (SIGTERM); NULL: neither
) WITH (fillfactor = 50);
CREATE INDEX executor_live ON lockstep.executor (executor_no) WHERE ended_at IS NULL;
-- read with each heartbeat
CREATE INDEX executor_died ON lockstep.executor (ended_at) WHERE ended_why IS DISTINCT FROM 'drained';

-- The sessions of an executor, so that another one that takes over its work ends what is left of it first. A backend is
-- named by pid and backend_start: a pid alone is used again.
CREATE TABLE lockstep.executor_session (
    executor_no int NOT NULL REFERENCES lockstep.executor ON DELETE CASCADE,
    pid int NOT NULL,
    backend_start timestamptz NOT NULL,
    kind text NOT NULL CHECK (kind IN ('control', 'liveness', 'gate', 'reader', 'relay', 'dispatcher')),
    PRIMARY KEY (executor_no, pid, backend_start)
);

-- Queues that an executor has set aside because its own statements for them fail: explain says why, and when the
-- executor tries again.
CREATE TABLE lockstep.executor_aside (
    executor_no int NOT NULL REFERENCES lockstep.executor ON DELETE CASCADE,
    queue_id int NOT NULL, -- no foreign key: an executor that notes its trouble must not wait for the queue's row
    since timestamptz NOT NULL DEFAULT clock_timestamp(),     -- the first failure
    failed_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- the latest one
    -- when the executor tries again. NULL: it has no other queue, and begins again after each failure
    until_at timestamptz,
    error text NOT NULL,
    PRIMARY KEY (queue_id, executor_no)
);

-- The reader bound: slot 1..max_readers of a queue is an exclusive advisory lock (class of slots, slot_id) on a control
-- session. The row names the reader's backend, which must be gone before another executor uses the slot.
CREATE TABLE lockstep.slot (
    slot_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    slot_no int NOT NULL,
    executor_no int,
    pid int,
    backend_start timestamptz,
    taken_at timestamptz,
    UNIQUE (queue_id, slot_no)
) WITH (fillfactor = 50);

-- Executors that have startable work and no slot: an executor that returns one notifies them.
CREATE TABLE lockstep.slot_waiter (
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    executor_no int NOT NULL REFERENCES lockstep.executor ON DELETE CASCADE,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (queue_id, executor_no)
);

-- How often tasks have changed the definitions of the database: functions, triggers, views... The knowledge of an
-- executor of the acts of tasks that their texts do not show (sql/functions/session/session_risks.sql) holds until the
-- next change. One row, changed in the task's transaction: a session that sees the change sees the count.
CREATE TABLE lockstep.definitions (
    changes bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO lockstep.definitions (changes) VALUES (1);
CREATE UNIQUE INDEX definitions_one ON lockstep.definitions ((true));

---- Run and phase

-- A run: phases published together. Written under the lock of its queue's row only. A trigger checks the values of its
-- columns, as those of a queue.
CREATE TABLE lockstep.run (
    run_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in order of first sight
    run_id uuid NOT NULL,
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    name text,
    implicit boolean NOT NULL DEFAULT false,
    on_failure text NOT NULL,
    status text NOT NULL,
    after_run_no bigint,                   -- serial runs: its first phase waits for the end of this one
    next_seq bigint NOT NULL DEFAULT 0,
    last_phase_id bigint,                  -- the phase being filled
    last_order bigint NOT NULL DEFAULT 0,
    last_previous_order bigint NOT NULL DEFAULT 0,
    tasks bigint NOT NULL DEFAULT 0,       -- claimed messages that became tasks
    phases bigint NOT NULL DEFAULT 0,
    rejected bigint NOT NULL DEFAULT 0,    -- messages of the run that could not become tasks; each counts as failed
    first_offset bigint,
    end_offset bigint,                     -- offset of its end; NULL while it may grow
    end_tasks bigint,
    end_phases bigint,
    aborted boolean NOT NULL DEFAULT false,
    -- phases of a later order are cancelled: the order that failed under stop, 0 after a loss
    stop_after bigint,
    error text,                            -- the cause of a bad end, in a sentence
    published_by text,
    published_at timestamptz,
    publish_digest text,                   -- of the source, when it is repeatable; of the request of an enqueued run
    publish_acked_seq bigint,
    publish_acked_offset bigint,
    started_at timestamptz,
    ended_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- A reopening writes these.
    replay_id int,                         -- it does not end before this replay has passed its end
    reopened_at timestamptz,               -- finished tasks of it were made unfinished again
    -- the stop_after that a reopening removed: the phases behind it were cancelled for it
    stop_lifted bigint,
    -- A publish that was broken off needs these to be resumed: how and from which source the run was published, and a
    -- digest of its records that are surely on the topic, so that a source with other records is refused.
    publish_mode text,                     -- finite, stream; NULL: not begun by lockstep publish
    publish_from text,                     -- file, pipe, query
    publish_source text,                   -- the file's absolute path or the query; NULL: a pipe
    publish_format text,                   -- jsonl, csv
    publish_bytes bigint,                  -- so many bytes of the file publish_digest is of
    -- of the records 0 to publish_acked_seq, each with the digest of those before it
    publish_chain text,
    publish_error text,                    -- why its producer, or the next one, ended it before all of it was published
    -- The commands of operators. A command that needs a running task to end stays in the row until its executor obeys.
    -- held by an operator: none of its tasks starts. NULL for a run that its policy has paused
    paused_by text,
    paused_at timestamptz,
    failure_at timestamptz,                -- its policy is pause: since then a failure waits for an operator to decide
    cancelled_by text,                     -- everything of it is cancelled; it ends when what was running has stopped
    cancelled_at timestamptz,
    stop_kept bigint,                      -- of a cancelled run: its stop_after before that
    events boolean NOT NULL DEFAULT false, -- as its queue when its first message was claimed
    swept boolean NOT NULL DEFAULT false,  -- begun_at of its run_summary is set: in the row, for the index
    -- phases up to this order do not count in the lookahead: they were claimed while, or before, the run was paused
    parked_order bigint,
    closed_by text,                        -- the operator that closed it because its end never came (lockstep.run_end)
    epoch int NOT NULL DEFAULT 0,          -- of the queue, when its first message was claimed
    job_id int,                            -- of the job that started it
    started_by text,
    UNIQUE (queue_id, run_id)
) WITH (fillfactor = 50);
CREATE INDEX run_by_id ON lockstep.run (run_id);
CREATE INDEX run_active ON lockstep.run (queue_id, run_no) WHERE ended_at IS NULL;
-- of a queue; phase_left has the reason for the expression
CREATE INDEX run_newest ON lockstep.run ((queue_id::bigint), run_no);
CREATE INDEX run_log ON lockstep.run (queue_id, first_offset) WHERE first_offset IS NOT NULL; -- the run at an offset
CREATE INDEX run_replay ON lockstep.run (replay_id) WHERE replay_id IS NOT NULL;
CREATE INDEX run_parked ON lockstep.run (queue_id) WHERE parked_order IS NOT NULL AND ended_at IS NULL;
CREATE INDEX run_unswept ON lockstep.run ((queue_id::bigint), run_no) WHERE ended_at IS NOT NULL AND NOT swept;
CREATE INDEX run_of_job ON lockstep.run (job_id, run_no) WHERE job_id IS NOT NULL AND ended_at IS NULL;
CREATE FUNCTION lockstep.guard_run() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER guard_run
BEFORE INSERT OR UPDATE OF status, on_failure, publish_mode, publish_from, publish_format ON lockstep.run
FOR EACH ROW EXECUTE FUNCTION lockstep.guard_run();
CREATE FUNCTION lockstep.job_run_ended() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER job_run_ended AFTER UPDATE OF ended_at ON lockstep.run FOR EACH ROW
WHEN (NEW.job_id IS NOT NULL AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
EXECUTE FUNCTION lockstep.job_run_ended();

-- A phase: (run, order). Its id names its two advisory locks. The claim of its first message makes the row; afterwards
-- only the gate that opens it, the function that finds it done, and a reopening write it.
CREATE TABLE lockstep.phase (
    phase_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_no bigint NOT NULL REFERENCES lockstep.run ON DELETE CASCADE,
    queue_id int NOT NULL,
    "order" bigint NOT NULL,
    previous_order bigint NOT NULL,
    previous_phase_id bigint,                   -- of the same run; NULL: its first
    claimed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    opened_at timestamptz,
    done_at timestamptz,
    -- a reopened run continues with it: it waits for the runs before, as a first phase does
    after_runs boolean NOT NULL DEFAULT false,
    external boolean NOT NULL DEFAULT false,    -- it has external tasks
    conditional boolean NOT NULL DEFAULT false, -- it has tasks with a condition
    events boolean NOT NULL DEFAULT false,      -- as its run: so that a trigger need not read the run
    UNIQUE (run_no, "order")
) WITH (fillfactor = 50);
-- Few phases are not done, even when ANALYZE runs at the moment of a large run: without this, plans read all phases of
-- a run that are done.
ALTER TABLE lockstep.phase ALTER COLUMN done_at SET STATISTICS 0;
CREATE INDEX phase_undone ON lockstep.phase (queue_id, run_no, "order") WHERE done_at IS NULL;
CREATE INDEX phase_unowned ON lockstep.phase (queue_id, run_no, "order")
    WHERE done_at IS NULL AND (external OR conditional);
-- Where another index begins with the same column, this one is of an expression: then the statement that is written so
-- can use no other, and its plan is certain. Among indexes of equal cost the planner's choice is luck, and all of them
-- are of equal cost to a plan that is made while the table is small. The same holds for run_newest and for indexes of
-- task.
CREATE INDEX phase_left ON lockstep.phase ((run_no + 0), ("order" + 0)) WHERE done_at IS NULL; -- of a run
CREATE FUNCTION lockstep.event_of_phase() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER opened_to_outbox AFTER INSERT ON lockstep.phase FOR EACH ROW
WHEN (NEW.events AND NEW.opened_at IS NOT NULL) EXECUTE FUNCTION lockstep.event_of_phase('phase_opened');
CREATE TRIGGER reopened_to_outbox AFTER UPDATE OF opened_at ON lockstep.phase FOR EACH ROW
WHEN (NEW.events AND OLD.opened_at IS NULL AND NEW.opened_at IS NOT NULL)
EXECUTE FUNCTION lockstep.event_of_phase('phase_opened');
CREATE TRIGGER done_to_outbox AFTER UPDATE OF done_at ON lockstep.phase FOR EACH ROW
WHEN (NEW.events AND OLD.done_at IS NULL AND NEW.done_at IS NOT NULL AND NEW.opened_at IS NOT NULL)
EXECUTE FUNCTION lockstep.event_of_phase('phase_done');

-- The part of a topic that an executor, or a replay, claims at once: records without a gap that share kind, run, order
-- and previous order.
CREATE TYPE lockstep.segment AS (
    kind text,                -- task, end, reject: a record that is no message
    run uuid,                 -- NULL: of an implicit run
    implicit uuid,            -- the id of the implicit run that would begin with the first record
    "order" bigint,
    previous bigint,
    offsets bigint[],
    seqs bigint[],
    payloads text[],
    names text[],             -- of tasks, as the next two
    max_attempts int[],
    traceparents text[],
    last_timestamp bigint,    -- of the last record, as the next one: the identity of the topic
    last_digest bytea,
    reasons text[],           -- of records that are no message, as the next two
    details text[],
    raws bytea[],
    -- A rejected message keeps keys and headers with its value, and a task needs none of them: so a segment comes
    -- without them, and the caller sends them when it is to be rejected. A header is one row of the three arrays:
    -- offset of its message, name, value.
    keys bytea[],
    end_tasks bigint,         -- of an end, as the next two
    end_phases bigint,
    aborted boolean,
    header_offsets bigint[],
    header_names text[],
    header_values bytea[],
    withheld boolean,         -- there are keys or headers, and they were not sent
    special boolean           -- there may be a condition, a key or a not_before: the text is searched for them
);

---- Task

-- A task: one message. The row is inserted in the transaction that moves the cursor past it and finished in the
-- transaction of its effect. No index holds a column that an attempt changes, so that those updates stay HOT; no
-- foreign key, because only a claim inserts, and it has the run and the phase in its hands.
CREATE TABLE lockstep.task (
    task_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    phase_id bigint NOT NULL,
    run_no bigint NOT NULL,
    queue_id int NOT NULL,
    status lockstep.status NOT NULL DEFAULT 'Pending',
    type text NOT NULL DEFAULT 'sql',
    "order" bigint NOT NULL,
    seq bigint,
    kafka_offset bigint NOT NULL,
    name text,
    payload text NOT NULL,           -- the record's value as it came
    traceparent text,
    executor_no int,                 -- the owner of the current attempt, or of the last one
    token uuid,                      -- the fence of the current attempt; NULL: it cannot be finished
    attempt_num int NOT NULL DEFAULT 0,
    max_attempts int NOT NULL DEFAULT 1,
    lost_num int NOT NULL DEFAULT 0, -- attempts that were lost, not failed
    step text,
    response text,
    error text,
    scheduled_for timestamptz,       -- not before
    started_at timestamptz,
    duration interval,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    cancelled_by text,               -- an operator has cancelled it; while it runs: it is to be stopped
    -- external: the worker that has it, if it is Processing; else the one that had it last
    worker text,
    lease_until timestamptz,         -- external and Processing: then it is returned
    condition text,                  -- always, failure; NULL: success
    key text,                        -- idempotency key
    skipped text,                    -- Cancelled, and nothing is to be tried again: condition, duplicate
    -- 'command:NAME', 'http:HOST:PORT': noted by an executor that was not able to do it; NULL: not asked yet
    needs text[],
    -- the session in which an attempt runs, while it is Processing; written with that mark
    backend_pid int,
    -- An executor may die before the row shows that an attempt has begun, which is written for long ones only. Such an
    -- attempt is in doubt and does not count as lost. So that a task that ends its server or its executor at once comes
    -- to an end all the same, its next attempt is made alone, and is shown, durably, before it runs. A NULL costs a row
    -- nothing.
    doubted boolean,
    first_attempt int,               -- of the present series: a retry or a replay begins one; NULL: 1
    rows bigint,                     -- of the last attempt: how many its statements read or wrote,
    notices text                     -- and its notices and warnings
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
-- A plan for a phase assumes that it has a hundred tasks. ANALYZE would answer with the average of the phases before:
-- behind a run of ten million tasks in one phase that is ten million, until a twentieth of the table is new, and the
-- end of each run, each barrier would read all of the table. Where a phase is large, its index is the right way all the
-- same.
ALTER TABLE lockstep.task ALTER COLUMN phase_id SET (n_distinct = -0.01);
CREATE INDEX task_phase ON lockstep.task (phase_id, kafka_offset);
CREATE INDEX task_troubled ON lockstep.task (phase_id) WHERE lost_num > 0 OR cancelled_by IS NOT NULL;
CREATE INDEX task_unowned ON lockstep.task ((phase_id + 0), kafka_offset)
    WHERE executor_no IS NULL AND type <> 'external';
-- External tasks that no worker has, and those that one has until then. Tasks of other types have neither, and their
-- updates stay HOT.
CREATE INDEX task_offered ON lockstep.task ((phase_id + 0), kafka_offset) WHERE type = 'external' AND worker IS NULL;
CREATE INDEX task_leased ON lockstep.task ((phase_id + 0), lease_until) WHERE lease_until IS NOT NULL;
-- The transitions of lockstep.status_transition and no other. The WHEN clause passes the hot path
-- (Pending, Processing, Error -> Completed, all legal), and it is short, because its text is parsed again in every
-- statement: a clause that named all transitions took a sixth of the server's time.
CREATE FUNCTION lockstep.guard_transition() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER guard_status BEFORE UPDATE OF status ON lockstep.task FOR EACH ROW
WHEN (NEW.status <> 'Completed' OR OLD.status > 'Error') EXECUTE FUNCTION lockstep.guard_transition();
-- A type that there is, and a condition. An attempt's statements write neither column, so they never come to this
-- trigger.
CREATE FUNCTION lockstep.guard_message() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER guard_message BEFORE INSERT OR UPDATE OF type, condition ON lockstep.task FOR EACH ROW
WHEN (NEW.type <> 'sql' OR NEW.condition IS NOT NULL) EXECUTE FUNCTION lockstep.guard_message();

-- Attempts that did not end a task well. A successful attempt is the task row itself.
CREATE TABLE lockstep.task_attempt (
    task_id bigint NOT NULL,
    attempt int NOT NULL,
    -- Error: another is due; Failed: the last; Pending: it was lost
    status lockstep.status NOT NULL REFERENCES lockstep.task_status,
    executor_no int,
    started_at timestamptz,
    ended_at timestamptz NOT NULL,
    sqlstate text,
    error text,
    detail text,
    hint text,
    context text,
    worker text,
    rows bigint,
    notices text,
    PRIMARY KEY (task_id, attempt)
);

-- Whose a key is: a task's, also when retention has deleted that. It passes to another task if its task ended without
-- being done (lockstep.key_take).
CREATE TABLE lockstep.idempotency_key (
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    key text NOT NULL,
    task_id bigint NOT NULL,
    run_id uuid NOT NULL,          -- and where its message is: by that a replay finds its own key
    kafka_offset bigint NOT NULL,
    taken_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (queue_id, key)
);

-- Reports of workers in this transaction, which are settled when it commits: the trigger on it (worker_settle) applies
-- the run's policy, ends the run and wakes the gates. It does so only then, because it needs the lock of the queue's
-- row, and a worker's transaction may stay open for any time. Empty outside transactions.
CREATE TABLE lockstep.worker_report (
    report_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id bigint NOT NULL
);
CREATE FUNCTION lockstep.worker_settle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE CONSTRAINT TRIGGER settle AFTER INSERT ON lockstep.worker_report DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION lockstep.worker_settle();

-- The answer of modify_task.
CREATE TYPE lockstep.worker_task AS (task_id bigint, updated_at timestamptz, status text, step text, attempt_num int,
                                     max_attempts int, response text, error text, scheduled_for timestamptz,
                                     started_at timestamptz, duration interval, lease_until timestamptz);

---- Rejected messages

-- Messages that could not become tasks: the record and the reason. raw NULL is a record without a value (a tombstone),
-- key NULL one without a key. Header n has the n-th name and the n-th value; a name may come twice, a value may be
-- NULL.
CREATE TABLE lockstep.rejected_message (
    rejected_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    kafka_offset bigint NOT NULL,
    run_no bigint,
    seq bigint,
    reason text NOT NULL,
    detail text NOT NULL,
    raw bytea,
    key bytea,
    rejected_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    header_names text[],
    header_values bytea[],
    dead_lettered_at timestamptz,  -- when its record was known to be on the dead-letter topic
    redrive_run uuid,              -- the last run that is known to have published it again
    redriven_at timestamptz,       -- when that run was known to be on the topic
    redriven_by text,
    redrive_noted uuid,            -- the run that is to publish it again, noted before anything is sent; NULL again
    redrive_noted_by text,         -- when the outcome of that run is known
    epoch int NOT NULL DEFAULT 0,  -- a later reading of the topic has rows of its own
    UNIQUE (queue_id, epoch, kafka_offset)
);
CREATE INDEX rejected_at ON lockstep.rejected_message (queue_id, rejected_at);
CREATE INDEX rejected_redrive ON lockstep.rejected_message (redrive_noted) WHERE redrive_noted IS NOT NULL;
CREATE INDEX rejected_redriven ON lockstep.rejected_message (redrive_run) WHERE redrive_run IS NOT NULL;
-- lockstep.claim finds the records that may account for a gap in a run without reading all rejected ones: those that
-- name no run, and the run's own.
CREATE INDEX rejected_loose ON lockstep.rejected_message (queue_id, epoch, kafka_offset) WHERE run_no IS NULL;
CREATE INDEX rejected_of_run ON lockstep.rejected_message (run_no, kafka_offset) WHERE run_no IS NOT NULL;
-- Every rejected message becomes a dead letter, whichever function writes the row.
CREATE FUNCTION lockstep.rejected_to_outbox() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER to_outbox AFTER INSERT ON lockstep.rejected_message REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION lockstep.rejected_to_outbox();

---- Events and outbox

-- The events of queues, runs, phases and tasks: in the log for people, and on the topic <topic>.events of queues that
-- want it (lockstep queue set --events on), for whole runs.
CREATE TABLE lockstep.event_type (
    event text PRIMARY KEY,
    about text NOT NULL CHECK (about IN ('queue', 'run', 'phase', 'task', 'job')),
    meaning text NOT NULL
);
INSERT INTO lockstep.event_type (event, about, meaning) VALUES
    ('run_started', 'run', 'its first message was claimed'),
    ('run_stopped', 'run', 'its later phases are cancelled: a task failed, or messages are missing'),
    ('run_paused', 'run', 'by an operator or by its policy'),
    ('run_resumed', 'run', 'by an operator'),
    ('run_cancelled', 'run', 'by an operator; it ends when nothing of it runs'),
    ('run_reopened', 'run', 'it had ended and continues: a retry or a replay'),
    ('run_ended', 'run', 'nothing of it is left to do; its status is final unless it is reopened'),
    ('run_closed', 'run', 'by an operator, because its end never came; it ends when its tasks are finished'),
    ('phase_opened', 'phase', 'everything before it is done, its tasks may start'),
    ('phase_done', 'phase', 'an opened phase has no unfinished task; written when the next one opens or the run ends'),
    ('tasks_reopened', 'phase', 'finished tasks of it are to be run again'),
    ('task_failed', 'task', 'finally: no attempt is left'),
    ('task_terminated', 'task', 'it was stopped while it ran, by an operator'),
    ('task_cancelled', 'task', 'it was taken back before it ran, by itself, by an operator'),
    ('queue_paused', 'queue', 'by an operator'),
    ('queue_resumed', 'queue', 'by an operator'),
    ('queue_halted', 'queue', 'its topic or its server is not what it was'),
    ('halt_lifted', 'queue', 'by an operator, who has the topic looked at again'),
    ('topic_accepted', 'queue', 'by an operator, who takes the topic as it is'),
    ('server_accepted', 'queue', 'by an operator, who takes the server as it is'),
    ('alert_opened', 'job', 'the monitor has found a problem of it in two looks in a row'),
    ('alert_closed', 'job', 'the problem is over, or another one, or the job is disabled, silenced or deleted'),
    ('alert_acknowledged', 'job', 'by an operator, who knows of it');

-- The actor of a change: a login, or the token of a program, which shares the console's login.
CREATE FUNCTION lockstep.actor() RETURNS text LANGUAGE sql STABLE AS 'SELECT session_user::text';

CREATE TABLE lockstep.event_log (
    event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    event text NOT NULL,
    queue_id int,
    run_no bigint,
    phase_id bigint,
    task_id bigint,
    executor_no int,
    job text,
    actor text NOT NULL DEFAULT lockstep.actor(),
    detail text
);
CREATE INDEX event_log_run ON lockstep.event_log (run_no, event_id);
CREATE INDEX event_log_queue ON lockstep.event_log (queue_id, at) WHERE run_no IS NULL;
CREATE FUNCTION lockstep.event_logged() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER to_outbox AFTER INSERT ON lockstep.event_log FOR EACH ROW
-- phase has triggers of its own, which cost nothing where events are off
WHEN (NEW.queue_id IS NOT NULL AND NEW.event <> 'phase_opened')
EXECUTE FUNCTION lockstep.event_logged();

-- Records that are to be published about committed changes: written in the transaction of the change, and published by
-- a relay (relay/) after that is durable. kind names the topic: <the queue's topic>.<kind>. A row is either complete in
-- itself, or names its subject (rejected_id), so that no large value is kept twice. It is deleted when its record is
-- known to be on the topic.
CREATE TABLE lockstep.outbox (
    outbox_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind ~ '^[a-z]+$'),
    rejected_id bigint REFERENCES lockstep.rejected_message ON DELETE CASCADE,
    key bytea,
    value bytea,
    header_names text[],
    header_values bytea[],
    -- its name in the record: ids are issued again after a restore, this is not
    uid uuid NOT NULL DEFAULT gen_random_uuid(),
    -- the relay's number: dense per queue and kind; NULL: not yet in its hands
    relay_seq bigint,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The subject of an event. The relay makes the record's value of it (event_message), because counting tasks must
    -- not delay the opening of the next phase. value is filled then, or before the subject changes again
    -- (event_freeze).
    event text,                                  -- NULL: not an event
    run_no bigint,
    phase_id bigint,
    task_id bigint,
    job text,
    actor text,
    detail text,
    UNIQUE (queue_id, kind, relay_seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX outbox_new ON lockstep.outbox (queue_id, kind, outbox_id) WHERE relay_seq IS NULL;
CREATE INDEX outbox_run ON lockstep.outbox (run_no) WHERE run_no IS NOT NULL;
CREATE INDEX outbox_rejected ON lockstep.outbox (rejected_id) WHERE rejected_id IS NOT NULL;

-- How far a relay is with a topic. Written by the relay alone; its row lock is held for one statement.
CREATE TABLE lockstep.relay (
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    kind text NOT NULL,
    last_seq bigint NOT NULL DEFAULT 0,    -- the newest number given
    sent_seq bigint NOT NULL DEFAULT 0,    -- up to here the records are known to be on the topic
    -- and no record of Lockstep is behind this offset but those that the relay does not know yet
    next_offset bigint NOT NULL DEFAULT 0,
    trouble text,                          -- why rows wait, in a sentence
    trouble_since timestamptz,
    timeline bigint,                       -- of the server on which the relay of enqueued runs began last
    undone_until bigint,                   -- after a change of it: below this offset the topic may have forgotten runs
    PRIMARY KEY (queue_id, kind)
) WITH (fillfactor = 50);

-- Runs that were enqueued by SQL (lockstep.enqueue, enqueue_trigger) and are not on the topic yet: the outbox of work.
-- Written in the caller's transaction together with the run's row; sent by the relay of an executor, whole runs at a
-- time; deleted when they are known to be on the topic.
CREATE TABLE lockstep.enqueued (
    -- they are sent in this order, as far as they can be seen
    enqueue_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    run_no bigint NOT NULL,
    run_id uuid NOT NULL,
    messages text[] NOT NULL,      -- the values of its records, tagged and in order, the end last
    phases int NOT NULL,
    bytes bigint NOT NULL,
    floor_offset bigint NOT NULL,  -- where the queue's cursor was: no record of the run lies below
    enqueued_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX enqueued_queue ON lockstep.enqueued (queue_id, enqueue_id);
CREATE INDEX enqueued_run ON lockstep.enqueued (run_id);
-- Runs on the topic that the database has forgotten, because it was restored or another server was promoted. They are
-- here until the queue's cursor is behind them.
CREATE TABLE lockstep.enqueue_undone (
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    run_id uuid NOT NULL,
    PRIMARY KEY (queue_id, run_id)
);

---- Replay

-- A replay: a second cursor over a range of the topic. Everything of [from_offset, to_offset) below the cursor is dealt
-- with: the cursor moves in the transaction that makes or reopens the rows, so a replay that was interrupted continues
-- and does nothing twice. At most one of a queue is under way.
CREATE TABLE lockstep.replay (
    replay_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    mode text NOT NULL CHECK (mode IN ('missing', 'failed', 'all')),
    from_offset bigint NOT NULL CHECK (from_offset >= 0),
    to_offset bigint NOT NULL CHECK (to_offset >= from_offset), -- the first one that is not replayed
    run_id uuid,                        -- of this run only
    "order" bigint,                     -- of this phase only
    cursor bigint NOT NULL,
    -- the implicit run that is open at the cursor: the queue's is that of the live end
    implicit_run_no bigint,
    last_run_no bigint,                 -- the run before the cursor in log order
    made bigint NOT NULL DEFAULT 0,     -- rows made from messages that had none
    reopened bigint NOT NULL DEFAULT 0, -- finished tasks made unfinished again
    state text NOT NULL DEFAULT 'Running' CHECK (state IN ('Running', 'Completed', 'Abandoned')),
    reason text NOT NULL,
    started_by text NOT NULL DEFAULT lockstep.actor(),
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,
    epoch int NOT NULL DEFAULT 0        -- of the queue, when it began
);
CREATE UNIQUE INDEX replay_open ON lockstep.replay (queue_id) WHERE ended_at IS NULL;

---- Retention

-- The last act of retention. Not in the queue's row: claims lock and copy that.
CREATE TABLE lockstep.retention (
    queue_id int PRIMARY KEY REFERENCES lockstep.queue ON DELETE CASCADE,
    swept_at timestamptz,               -- the last sweep ended
    detail text,                        -- and its result, or why there is none
    -- offsets from the first to the last of the deleted rejected messages of no known run
    rejected int8range,
    epoch int NOT NULL DEFAULT 0        -- of those
);

-- The rest of a run whose tasks retention has deleted, or begun to delete: the sums of the deleted ones. Such a run is
-- over finally: it is neither retried nor replayed. Its own row stays: see run_status.
CREATE TABLE lockstep.run_summary (
    run_no bigint PRIMARY KEY REFERENCES lockstep.run ON DELETE CASCADE,
    tasks bigint NOT NULL DEFAULT 0,
    completed bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    cancelled bigint NOT NULL DEFAULT 0,
    attempts bigint NOT NULL DEFAULT 0, -- beyond the one that is in each task's row
    busy interval NOT NULL DEFAULT '0', -- the time that its last attempts took, together
    begun_at timestamptz,               -- NULL: nothing is deleted yet
    swept_at timestamptz,               -- all of it is
    -- where the next batch begins: deleted rows are still in the indexes for a while
    upto_order bigint,
    upto_offset bigint,
    held text,                          -- why it could not continue, as when another table refers to its tasks
    look_at timestamptz                 -- then it is tried again
);
CREATE INDEX run_summary_unfinished ON lockstep.run_summary (run_no) WHERE swept_at IS NULL;

-- The number of runs of each queue that have ended, by status: the metrics count these, also after retention. Written
-- by lockstep.run_finish and lockstep.run_unpublished.
CREATE TABLE lockstep.run_count (
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    status text NOT NULL,
    runs bigint NOT NULL,
    PRIMARY KEY (queue_id, status)
) WITH (fillfactor = 10);

---- Explanations

-- The reasons for which work waits (sql/functions/explain), with their remedies for a person. Words in capital letters
-- are filled in: QUEUE, RUN, TASK, EXECUTOR, OTHER and PID are those that are in the way. rank is the order in which
-- explain prints: reasons on which a person can act come first.
CREATE TABLE lockstep.wait_reason (
    reason text PRIMARY KEY,
    meaning text NOT NULL,
    helps text NOT NULL,
    rank int NOT NULL DEFAULT 30
);
INSERT INTO lockstep.wait_reason (reason, rank, meaning, helps)
VALUES ('standby', 0, 'executors and their sessions cannot be seen on a standby',
        'Ask the primary: lockstep ... -d "host=... target_session_attrs=read-write"'),
       ('queue_halted', 10, 'the topic is not what it was, or Kafka refuses', 'REMEDY'),
       ('queue_paused', 11, 'an operator holds the queue', 'lockstep queue resume QUEUE'),
       ('locks_taken', 12, 'a session that is none of an executor holds locks of phases',
        'SELECT pg_terminate_backend(PID). What keeps others from these locks: lockstep migrate roles --show-sql '
        '--advisory'),
       ('row_held', 13,
        'a session holds the row of the queue, of one of its runs, or of the task, in an open transaction',
        'End that transaction, or its session: SELECT pg_terminate_backend(PID)'),
       ('executors_drain', 14, 'all executors of the queue are ending',
        'lockstep executor run --queue QUEUE'),
       ('executors_held', 14, 'a signal (SIGUSR1) keeps all executors of the queue from claiming',
        'On HOST: kill -USR2 PID'),
       ('executors_without_readers', 14, 'all executors of the queue are set to use no reader',
        'lockstep executor set EXECUTOR --readers 1'),
       ('no_executor', 14, 'no executor works for the queue',
        'lockstep executor run --queue QUEUE. If one was started and cannot connect, its own log says why; on its '
        'host: lockstep check'),
       ('no_readers', 14, 'the queues bound is 0', 'lockstep queue set QUEUE --max-readers 1'),
       ('executor_without_login', 15, 'an executor lives, and the server does not let its tasks'' login in',
        'Let that login in (its password, NOLOGIN, pg_hba.conf, connections left): the executor on HOST continues by '
        'itself. Where its password is new: change [postgres] task_conninfo there and restart the executor'),
       ('queue_set_aside', 15, 'an executor cannot work on the queue: its statements for it fail',
        'Repair what the error names; the executor tries again by itself'),
       ('executor_cut_off', 16, 'an executor lives and cannot reach Kafka',
        'On HOST: lockstep check; it continues by itself when the broker answers'),
       ('topic_unreadable', 16, 'an executor lives and cannot read the topic of the queue',
        'Repair what the error names: the executor on HOST continues by itself. If the queue is halted then: lockstep '
        'queue resume QUEUE'),
       ('executor_silent', 16, 'an executor holds its locks, and its heartbeat stands still',
        'On HOST: kill -CONT PID lets it continue; kill -KILL PID ends it, and another executor takes over (lockstep '
        'executor run --queue QUEUE)'),
       ('blocked_by_transaction', 18, 'an open Kafka transaction holds back what lies behind it',
        'Find its producer: kafka-transactions.sh --bootstrap-server BROKER describe-producers --topic TOPIC '
        '--partition PARTITION. It ends with that producer, or the broker aborts it after its transaction.timeout.ms'),
       ('readers_cut_off', 36, 'the server lets an executor open sessions for some of its readers, and not for all',
        'Let that login in (its password, NOLOGIN, pg_hba.conf, its CONNECTION LIMIT, max_connections): the readers on '
        'HOST continue by themselves. Where its password is new: change [postgres] task_conninfo there and restart the '
        'executor'),
       ('slots_kept', 22, 'a dead executors session still runs in a slot',
        'It is free when that session has ended. To end it: SELECT pg_terminate_backend(PID)'),
       ('readers_busy', 37, 'all slots of the queue are in use',
        'Wait for a task to finish. To let more run at once: lockstep queue set QUEUE --max-readers MORE. To see what '
        'runs: lockstep task list --queue QUEUE --status Processing'),
       ('readers_spent', 37, 'all slots of the queue and all readers of its executors are in use',
        'Wait for a task to finish. To let more tasks of one order run at once, raise the bound: lockstep queue set '
        'QUEUE --max-readers MORE. And start another executor: lockstep executor run --queue QUEUE. To see the tasks '
        'that run: lockstep task list --queue QUEUE --status Processing'),
       ('executors_busy', 37, 'all readers of the executors of the queue are at work',
        'Wait for a task to finish. To let more tasks of one order run at once, start another executor: lockstep '
        'executor run --queue QUEUE. To see the tasks that run: lockstep task list --queue QUEUE --status Processing'),
       ('executors_limited', 37, 'all readers that the executors of the queue may use are at work',
        'Wait for a task to finish. To let more tasks of one order run at once: lockstep executor set EXECUTOR '
        '--readers READERS. To see the tasks that run: lockstep task list --queue QUEUE --status Processing'),
       ('sessions_hidden', 39, 'the login may not see the sessions of other logins',
        'GRANT pg_read_all_stats TO LOGIN'),
       ('nothing_waits', 60, 'it continues', 'Nothing has to be done.'),
       ('queue_idle', 60, 'nothing waits', 'Nothing has to be done.'),
       ('run_paused', 12, 'an operator holds the run', 'lockstep run resume RUN'),
       ('run_paused_by_failure', 12, 'a task failed, and the policy of the run is to wait for an operator',
        'To try it again: lockstep run retry RUN. To continue without it: lockstep run resume RUN. To give the run up: '
        'lockstep run cancel RUN'),
       ('run_before_endless', 13, 'the runs of the queue are serial, and the end of the one before has not come',
        'If no more of it will come: lockstep run end OTHER'),
       ('run_replay', 20, 'a replay is reading it',
        'To continue one that was interrupted: lockstep replay --queue QUEUE --resume REPLAY. To give it up: lockstep '
        'replay --queue QUEUE --abandon REPLAY'),
       ('run_stopping', 20, 'the run is cancelled, some of its tasks still run',
        'Nothing: their statements are being cancelled, after 5 s their sessions are cut off'),
       ('run_records_gone', 24,
        'what is not claimed of the run is not on the topic any more, or lies before the cursor',
        'Publish its work again as another run. To close this one: lockstep run cancel RUN'),
       ('run_abandoned', 25, 'its producer is gone and has not finished',
        'To continue it: lockstep publish --queue QUEUE --resume RUN. To close it: lockstep run end RUN'),
       ('run_abandoned_redrive', 25, 'the redrive that published it is gone and has not finished',
        'To close it: lockstep run end RUN. Then redrive the messages again'),
       ('run_end_missing', 25, 'its tasks are finished, and its end has not come',
        'If no more of it will come: lockstep run end RUN'),
       ('run_ended', 30, 'it is over', 'Nothing has to be done.'),
       ('run_enqueued', 30, 'a run that was enqueued by SQL is not on the topic yet',
        'An executor of the queue sends it within a moment, when no publisher holds the queue. What keeps it: lockstep '
        'queue show QUEUE'),
       ('run_incomplete', 30, 'it is over, and something of it is missing or was refused',
        'Publish the work again as another run. Its error: lockstep run show RUN. Messages that were refused: lockstep '
        'rejected list --queue QUEUE'),
       ('run_retryable', 30, 'it is over, and some of it failed or was cancelled',
        'lockstep run retry RUN'),
       ('run_end_unclaimed', 34, 'its end is still on the topic',
        'Nothing: it ends when its end is claimed. What keeps that: lockstep queue explain QUEUE'),
       ('run_publishing', 34, 'its producer is at work',
        'Wait for its producer, or: lockstep run cancel RUN'),
       ('run_unclaimed', 34, 'nothing of the run is claimed yet',
        'Nothing has to be done while an executor works for the queue: it claims the run when those before it are '
        'done'),
       ('run_before', 35, 'the runs of the queue are serial',
        'Wait for it, or: lockstep run cancel OTHER'),
       ('run_before_stopping', 35, 'the runs of the queue are serial, and the one before is cancelled',
        'Nothing: it ends when what runs of it has stopped'),
       ('lookahead', 46, 'enough phases wait to be opened',
        'Nothing: it continues when the next phase opens. To claim more ahead: lockstep queue set QUEUE --lookahead '
        'FARTHER'),
       ('phase_before', 50, 'phases are strictly ordered',
        'Nothing: it opens when those tasks are finished'),
       ('task_blocked', 12, 'it runs, and waits for a lock of another session',
        'End that transaction: SELECT pg_terminate_backend(PID). Or: lockstep task cancel TASK'),
       ('task_blocked_prepared', 12, 'it runs, and waits for a lock of a prepared transaction',
        'In database DATABASE: ROLLBACK PREPARED ''GID'' (or COMMIT PREPARED ''GID''). Or: lockstep task cancel TASK'),
       ('task_blocked_task', 12, 'it runs, and waits for a lock of another task',
        'Wait for it, or: lockstep task cancel OTHER'),
       ('task_lost_session', 13, 'its attempt has lost its session, and its executor can open no other one',
        'Let that login in (its password, NOLOGIN, pg_hba.conf, connections left): the executor decides then what has '
        'become of it, and it is tried again. To have another executor take it over, on HOST: kill -TERM PID'),
       ('task_nobody_able', 24, 'no executor of the queue knows the command, or may call the host, that a task needs',
        'Add NEED to [commands] or [http] allow in the configuration of an executor, then: kill -HUP PID (on HOST). '
        'Or: lockstep task cancel TASK'),
       ('task_paused', 24, 'an operator holds it',
        'To release it: lockstep task retry TASK. To give it up: lockstep task cancel TASK'),
       ('task_not_before', 26, 'it may not start yet',
        'Nothing has to be done: it starts then. To start it now: lockstep task retry TASK'),
       ('task_retry_later', 26, 'its last attempt failed, the next one is due later',
        'To try it now: lockstep task retry TASK. To give it up: lockstep task fail TASK. To declare it done: lockstep '
        'task complete TASK'),
       ('task_offered', 28, 'an external task is due, and no worker has asked for it',
        'Start a worker that calls lockstep.next_task(''QUEUE'', ...), see docs/how-to/external-workers.md. To end it '
        'by hand: lockstep task complete TASK, or lockstep task fail TASK'),
       ('task_with_worker', 28, 'an external worker has it',
        'Wait for its report or for the end of its lease. To end it, whoever has it: lockstep task cancel TASK'),
       ('task_finished', 30, 'it is over', 'Nothing has to be done.'),
       ('task_stopped_by_failure', 30, 'a task before it failed, so it was cancelled',
        'When the run has ended: lockstep run retry RUN'),
       ('task_retryable', 30, 'it is over, and is not done', 'lockstep task retry TASK'),
       ('task_unowned', 30, 'it may start, and no executor has taken it',
        'An executor that has a free reader takes it within a second or two. If none does: lockstep queue explain '
        'QUEUE'),
       ('task_stopping', 36, 'an operator has cancelled it while it ran',
        'Nothing: its statement is being cancelled, after 5 s its session is cut off'),
       ('task_running', 38, 'it runs', 'To stop it: lockstep task cancel TASK'),
       ('task_in_hand', 44, 'an executor has it and will start it',
        'Nothing: it starts when a reader is free');

CREATE TYPE lockstep.explanation AS (reason text, sentence text, about text, since timestamptz, helps text);

---- Jobs

-- A rule of times in the form in which times are computed from it: lockstep.rule_of reads it from the form that users
-- write. The days on which it holds, the seconds of such a day, and the zone whose clock both are read from. Sets are
-- bits: bit n is value n.
CREATE TYPE lockstep.rule AS (
    kind text,              -- interval, instant, never, or how its days follow each other: days, weeks, months
    zone text,              -- of the clock
    is_fixed boolean,       -- its times name an hour and a minute: once where the clock repeats or skips them
    start_date date,        -- the first day; days, weeks and months are counted from it; NULL: none
    end_date date,          -- the last day on which a window opens
    factor int,             -- every how many days, weeks (blocks of seven days from the start) or months
    months int,             -- 1 to 12
    days bigint,            -- 1 to 31
    days_from_end bigint,   -- 0: the last day, 1: the one before it
    workdays bigint,        -- 1 to 31: the weekday that is nearest to this day, in the same month
    last_workday boolean,
    weekdays int,           -- 0: Sunday, to 6
    nth_weekdays bigint,    -- bit 7 * (k - 1) + d: the k-th weekday d of the month
    last_weekdays int,      -- the last weekday d of the month
    ordinal int,            -- of the days that match only this one: 1 to 4, 5 the last; NULL: all
    is_both boolean,        -- a day matches days and weekdays; otherwise either suffices
    hours int, minutes bigint, seconds bigint,   -- the times of a day, or
    times int[],                                 -- seconds after midnight, ascending, or
    -- each step seconds from opens to closes, which may lie in the next day
    opens int, closes int, step int,
    every bigint, phase bigint,                  -- interval: seconds, from the epoch on
    instant timestamptz,
    not_before timestamptz, not_after timestamptz -- bounds of all kinds, included
);

-- A trigger of a job: rows that wait in a table; and the result of the last look.
CREATE TYPE lockstep.rows_rule AS (
    -- quoted and with its schema; NULL: this is no trigger. A table that is created again is meant, too
    relation text,
    pending text,               -- which of its rows wait
    created_column text,        -- quoted; NULL: none
    check_every interval,
    threshold bigint,           -- fires when so many wait; NULL: never for their number
    idle interval,              -- fires when the oldest waits for so long
    debounce interval,          -- fires when the newest one is so old, or
    max_wait interval,          -- the oldest
    min_between interval,       -- from firing to firing
    mark text                   -- a statement that runs in the firing transaction
);
CREATE TYPE lockstep.rows_look AS (
    at timestamptz,             -- of the transaction that looked
    rows bigint,                -- counted to the threshold and one more
    oldest_at timestamptz, newest_at timestamptz,
    failures int,               -- looks in a row that failed
    error text                  -- of the last one
);

-- Jobs: templates of runs, the rules of their times, and the outcome of each time (docs/explanation/scheduler.md).
CREATE TABLE lockstep.job (
    job_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    queue_id int REFERENCES lockstep.queue ON DELETE CASCADE,
    spec jsonb NOT NULL,                        -- tasks, defaults, schedules, policies; in the form of job_normal
    enabled boolean NOT NULL,
    overlap text NOT NULL,                      -- the rule while a run of it has not ended
    zombie_after interval NOT NULL,
    max_runtime interval,                       -- NULL: any
    version int NOT NULL DEFAULT 1,             -- grows with each change
    file text,                                  -- that declared it (lockstep job apply)
    declared jsonb,                             -- the spec, as that file had it
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_by text NOT NULL DEFAULT lockstep.actor(),
    max_expected interval,                      -- a run that takes longer is stuck; NULL: as the runs before took
    is_watch boolean NOT NULL DEFAULT false,    -- it is done elsewhere and reports in: it has no queue
    CONSTRAINT job_overlap CHECK (overlap IN ('skip', 'queue_one', 'allow', 'cancel')),
    CONSTRAINT job_queue CHECK (is_watch = (queue_id IS NULL))
);
CREATE INDEX job_of_queue ON lockstep.job (queue_id);

CREATE TABLE lockstep.schedule (
    schedule_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- in the ids of its runs: a number may be given again after a restore
    schedule_uid uuid NOT NULL DEFAULT gen_random_uuid(),
    job_id int NOT NULL REFERENCES lockstep.job ON DELETE CASCADE,
    name text NOT NULL,
    spec jsonb NOT NULL, -- as people wrote it
    rule lockstep.rule, -- of times, or
    after_job int REFERENCES lockstep.job ON DELETE CASCADE, -- the job that it follows, or
    after_end text,
    rows_rule lockstep.rows_rule, -- the trigger
    is_active boolean NOT NULL, -- it and its job are enabled
    misfire text NOT NULL,
    catchup_window interval NOT NULL,
    jitter interval NOT NULL,
    grace interval, -- how late it may be; NULL: by the distance of its times
    next_at timestamptz, -- the first time that is not decided; NULL: none is known
    wake_at timestamptz, -- when the dispatcher decides about it; NULL: there is no time
    due_at timestamptz, -- of a schedule that follows a job: the end at next_at is due from then on
    queued_for timestamptz, -- decided, and fires when the job's run has ended
    queued_missed_from timestamptz, -- the times that passed before that one: its occurrence has them
    queued_missed int NOT NULL DEFAULT 0,
    look lockstep.rows_look,
    fired_at timestamptz, -- of a trigger
    -- of a trigger: since when looks or firings fail; NULL: the last one did not
    failing_since timestamptz,
    -- why SQL of users came back without a fault of the job, as the log has it
    failing_why text,
    uses_sql boolean NOT NULL DEFAULT false, -- it cannot be decided, or not fire, without SQL of users
    asked_until timestamptz, -- that SQL is under way; nothing else decides it before
    UNIQUE (job_id, name));
-- A firing writes none of these columns.
CREATE FUNCTION lockstep.guard_schedule() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER guard_schedule BEFORE INSERT OR UPDATE OF rule, after_job, rows_rule, after_end, misfire
ON lockstep.schedule FOR EACH ROW EXECUTE FUNCTION lockstep.guard_schedule();
-- Of schedules that are due at the same moment the same one comes first, in a database that was set back, too: a run
-- has the id of its schedule.
CREATE INDEX schedule_due ON lockstep.schedule (wake_at, schedule_id) WHERE is_active AND wake_at IS NOT NULL;
CREATE INDEX schedule_after ON lockstep.schedule (after_job) WHERE after_job IS NOT NULL;
CREATE INDEX schedule_asked ON lockstep.schedule (asked_until) WHERE asked_until IS NOT NULL;
CREATE INDEX schedule_rows ON lockstep.schedule (((rows_rule).relation))
    WHERE (rows_rule).relation IS NOT NULL AND is_active;

-- Ends of a job that a schedule of the kind "after" has yet to decide, behind the one that is its next_at: each is an
-- occurrence of its own.
CREATE TABLE lockstep.job_end (
    job_end_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    schedule_id int NOT NULL REFERENCES lockstep.schedule ON DELETE CASCADE,
    scheduled_for timestamptz NOT NULL,
    due_at timestamptz NOT NULL,
    UNIQUE (schedule_id, scheduled_for)
);

-- The rules of a time zone at the time when the next times of schedules in it were computed: print is of the offsets of
-- two years from the day since on.
CREATE TABLE lockstep.zone (
    zone text PRIMARY KEY,
    since date NOT NULL,
    print text NOT NULL
);

-- The SQL that the tasks' login is to run for one firing. A session with the token fires the job: so no role reads this
-- table. A row with wake_at is a request: its maker has no session of the tasks' login (lockstep.job_run,
-- job_backfill), and dispatchers try it until it has fired or failed (lockstep.job_request_turn).
CREATE TABLE lockstep.job_ask (
    token uuid PRIMARY KEY DEFAULT pg_catalog.gen_random_uuid(),
    job_id int NOT NULL REFERENCES lockstep.job ON DELETE CASCADE,
    schedule_id int UNIQUE REFERENCES lockstep.schedule ON DELETE CASCADE, -- NULL: by hand
    scheduled_for timestamptz NOT NULL,
    run_id uuid NOT NULL,
    asked_at timestamptz NOT NULL,              -- as the decision took it
    source text NOT NULL,
    params jsonb,
    asked_by text NOT NULL,
    fills int REFERENCES lockstep.schedule ON DELETE CASCADE, -- the schedule of which a backfill fires this time
    fills_overlap text,
    wake_at timestamptz,                        -- a request: a dispatcher runs the SQL, then at the earliest
    failing_since timestamptz,                  -- a request that failed, and the job is not to blame
    ask_no bigint GENERATED ALWAYS AS IDENTITY  -- the order of requests
);
CREATE INDEX job_ask_of_job ON lockstep.job_ask (job_id);
CREATE INDEX job_ask_request ON lockstep.job_ask (wake_at) WHERE wake_at IS NOT NULL;
CREATE TYPE lockstep.dispatched AS (
    verdict text, job text, schedule text, scheduled_for timestamptz, run uuid, reason text, wait_us bigint,
    token uuid, look text, mark text, query text, words jsonb
);

CREATE TABLE lockstep.job_occurrence (
    occurrence_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id int NOT NULL REFERENCES lockstep.job ON DELETE CASCADE,
    schedule_id int REFERENCES lockstep.schedule ON DELETE SET NULL,   -- NULL: by hand
    scheduled_for timestamptz NOT NULL,
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    outcome text NOT NULL,
    source text NOT NULL,                       -- why: schedule nightly, manual by etl_oncall, after load (Completed)
    reason text,
    run_id uuid,
    missed_from timestamptz,                    -- the times before it that passed undecided
    missed_count int NOT NULL DEFAULT 0,
    dispatcher text NOT NULL,
    status text,                                -- of the run, when it has ended
    ended_at timestamptz,
    retried boolean NOT NULL DEFAULT false,     -- that end is of a retry: it says nothing of how long the run takes
    rows bigint,                                -- that waited when a trigger fired
    UNIQUE (schedule_id, scheduled_for),
    CONSTRAINT job_occurrence_outcome CHECK (outcome IN ('fired', 'skipped', 'missed', 'error'))
);
CREATE INDEX job_occurrence_of_job ON lockstep.job_occurrence (job_id, scheduled_for DESC, occurrence_id DESC);
CREATE INDEX job_occurrence_good ON lockstep.job_occurrence (job_id, scheduled_for DESC) WHERE status = 'Completed';
CREATE INDEX job_occurrence_at ON lockstep.job_occurrence (decided_at, occurrence_id);
CREATE INDEX job_occurrence_of_run ON lockstep.job_occurrence (run_id) WHERE run_id IS NOT NULL;

CREATE TABLE lockstep.job_event (
    job_event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job text NOT NULL,                          -- its name: the log outlives the job
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    event text NOT NULL,
    source text,
    message text,
    run_id uuid,
    duration interval,
    rows bigint,
    CONSTRAINT job_event_event
        CHECK (event IN ('fired', 'skipped', 'missed', 'completed', 'error', 'zombie', 'changed', 'alert', 'recovered',
                         'late', 'stuck'))
);
CREATE INDEX job_event_of_job ON lockstep.job_event (job, at DESC, job_event_id DESC);
CREATE INDEX job_event_at ON lockstep.job_event (at, job_event_id);

-- Sums of the times of jobs that are no longer kept, and where their sweep continues.
CREATE TABLE lockstep.job_day_swept (
    job_id int NOT NULL REFERENCES lockstep.job ON DELETE CASCADE,
    day date NOT NULL,                          -- in UTC
    times bigint NOT NULL,                      -- decided: the next ones but completed and failed, which are of fired
    fired bigint NOT NULL,
    completed bigint NOT NULL,
    failed bigint NOT NULL,
    skipped bigint NOT NULL,
    missed bigint NOT NULL,
    errors bigint NOT NULL,
    passed bigint NOT NULL,                     -- times before them that passed undecided
    duration interval NOT NULL,                 -- of all runs together
    longest interval,                           -- run
    latest interval,                            -- firing
    PRIMARY KEY (job_id, day)
);
CREATE TABLE lockstep.job_sweeper (
    job_sweeper_id int PRIMARY KEY DEFAULT 1 CHECK (job_sweeper_id = 1), -- there is one row
    next_job_id int NOT NULL DEFAULT 0
);
INSERT INTO lockstep.job_sweeper DEFAULT VALUES;

---- Alerts

-- Alerts: incidents of jobs that the monitor found, their notices to receivers, and silences (docs/reference/jobs.md).
CREATE TABLE lockstep.monitor (
    monitor_id int PRIMARY KEY DEFAULT 1 CHECK (monitor_id = 1), -- there is one row
    looked_at timestamptz,                      -- the last look; NULL: there was none
    looked_by text,
    every interval,                             -- how often that one looks
    quiet_until timestamptz,                    -- after an absence of all monitors: nothing is raised before
    held text                                   -- the session that had the row of an alert at that look
);
INSERT INTO lockstep.monitor DEFAULT VALUES;

-- The daemons that look and send (monitor run): one is remembered when it has died, so that its silence is seen. Which
-- of them has looked last, or a dispatcher has, is in lockstep.monitor.
CREATE TABLE lockstep.monitor_process (
    who text PRIMARY KEY,                       -- host and pid, as looks and notices name it
    host text NOT NULL,
    login text NOT NULL,
    started_at timestamptz NOT NULL,
    looked_at timestamptz NOT NULL,
    every interval NOT NULL,                    -- how often it looks
    ended_at timestamptz                        -- it was asked to end; NULL: it looks, or it has died
);
CREATE TABLE lockstep.monitor_receiver (
    who text REFERENCES lockstep.monitor_process ON DELETE CASCADE,
    receiver text,                              -- NAME of [alert:NAME]
    jobs text[] NOT NULL,                       -- names, with * for any text
    kinds text[],                               -- NULL: all
    hold interval NOT NULL,
    PRIMARY KEY (who, receiver)
);

CREATE TABLE lockstep.job_alert (
    alert_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job text NOT NULL,                          -- its name: an incident outlives the job; '': of the monitor itself
    kind text NOT NULL,
    since timestamptz,                          -- as job_health says
    seen_at timestamptz NOT NULL,               -- the first look that saw it
    last_seen_at timestamptz NOT NULL,
    opened_at timestamptz,                      -- NULL: one look has seen it
    unseen int NOT NULL DEFAULT 0,              -- looks in a row that have not
    text text,
    acknowledged_by text,
    acknowledged_at timestamptz,
    note text,
    closed_at timestamptz,
    ended text,                                 -- how: it may be no longer looked at
    CONSTRAINT job_alert_kind CHECK (kind IN ('missed', 'stuck', 'failed', 'late', 'never', 'blocked', 'absent')),
    CONSTRAINT job_alert_ended CHECK (ended IN ('recovered', 'changed', 'disabled', 'paused', 'silenced', 'deleted'))
);
CREATE UNIQUE INDEX job_alert_open ON lockstep.job_alert (job, kind) WHERE closed_at IS NULL;
CREATE INDEX job_alert_closed ON lockstep.job_alert (closed_at) WHERE closed_at IS NOT NULL;
-- Alerts are in the log of events, for its readers, and on the topics of events.
CREATE FUNCTION lockstep.alert_logged() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER alert_new AFTER INSERT ON lockstep.job_alert FOR EACH ROW
WHEN (NEW.opened_at IS NOT NULL)
EXECUTE FUNCTION lockstep.alert_logged();
CREATE TRIGGER alert_turned AFTER UPDATE ON lockstep.job_alert FOR EACH ROW
WHEN ((OLD.opened_at IS NULL, OLD.closed_at IS NULL, OLD.acknowledged_at)
    IS DISTINCT FROM (NEW.opened_at IS NULL, NEW.closed_at IS NULL, NEW.acknowledged_at))
EXECUTE FUNCTION lockstep.alert_logged();

CREATE TABLE lockstep.job_notice (
    notice_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    alert_id bigint NOT NULL REFERENCES lockstep.job_alert ON DELETE CASCADE,
    receiver text NOT NULL,                     -- NAME of [alert:NAME]
    notice text NOT NULL,
    number int NOT NULL,                        -- of a reminder
    made_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL,                -- the next attempt; while one is made, when it counts as lost
    -- an attempt is made; otherwise it waits, may be tried earlier, or dropped
    is_claimed boolean NOT NULL DEFAULT false,
    attempts int NOT NULL DEFAULT 0,
    by_whom text,                               -- made the last attempt
    error text,                                 -- of the last attempt
    delivered_at timestamptz,
    UNIQUE (alert_id, receiver, notice, number),
    CONSTRAINT job_notice_notice CHECK (notice IN ('opened', 'reminder', 'closed'))
);
CREATE INDEX job_notice_due ON lockstep.job_notice (receiver, due_at) WHERE delivered_at IS NULL;

CREATE TABLE lockstep.job_silence (
    job_id int PRIMARY KEY REFERENCES lockstep.job ON DELETE CASCADE,
    until timestamptz NOT NULL,
    reason text NOT NULL,
    set_by text NOT NULL,
    set_at timestamptz NOT NULL
);

---- Console

-- Tokens of programs that use the console's API. The token itself is shown once, and only its SHA-256 is kept.
CREATE TABLE lockstep.console_token (
    token_no int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    hash bytea NOT NULL UNIQUE,
    operator boolean NOT NULL,
    producer boolean NOT NULL DEFAULT false,
    pinger boolean NOT NULL DEFAULT false,      -- of role ping: it reports to watches, and does nothing else
    created_by text NOT NULL DEFAULT lockstep.actor(),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz,
    last_used_at timestamptz,                   -- to the minute
    revoked_by text,
    revoked_at timestamptz
);

-- Changes that the console's API makes once: of each Idempotency-Key what was asked for, and the answer.
CREATE TABLE lockstep.console_change (
    change_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    visitor text NOT NULL,                      -- the login of the session, and the visitor
    key text NOT NULL,
    digest bytea NOT NULL,                      -- of the request
    answer text,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (visitor, key)
);
CREATE INDEX console_change_made ON lockstep.console_change (made_at);

---- Rights

-- lockstep_task has no right on any table: it may execute the two functions that end the attempt whose token it holds
-- (lockstep.complete, lockstep.fail), and nothing else. Workers and producers change rows by functions only, in their
-- own name.
GRANT USAGE ON SCHEMA lockstep
    TO lockstep_executor, lockstep_task, lockstep_producer, lockstep_operator, lockstep_monitor, lockstep_worker;

GRANT SELECT, INSERT, UPDATE, DELETE ON
    lockstep.queue, lockstep.executor, lockstep.executor_session, lockstep.executor_aside, lockstep.slot,
    lockstep.slot_waiter, lockstep.run, lockstep.phase, lockstep.task, lockstep.task_attempt, lockstep.idempotency_key,
    lockstep.worker_report, lockstep.rejected_message, lockstep.event_log, lockstep.outbox, lockstep.relay,
    lockstep.retention, lockstep.run_summary
    TO lockstep_executor;
GRANT SELECT, INSERT, UPDATE ON lockstep.run_count TO lockstep_executor;
GRANT SELECT, DELETE ON lockstep.enqueued TO lockstep_executor;
GRANT SELECT, INSERT, DELETE ON lockstep.enqueue_undone TO lockstep_executor;
GRANT SELECT, INSERT, UPDATE, DELETE ON lockstep.queue TO lockstep_operator;
GRANT INSERT (event, queue_id, detail) ON lockstep.event_log TO lockstep_operator;

GRANT SELECT ON
    lockstep.migration, lockstep.function_version, lockstep.task_status, lockstep.halt_reason, lockstep.wait_reason,
    lockstep.event_type, lockstep.replay, lockstep.job, lockstep.job_occurrence, lockstep.job_event
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
GRANT SELECT ON lockstep.status_transition, lockstep.task_type, lockstep.definitions
    TO lockstep_executor, lockstep_operator, lockstep_monitor;
-- A publisher sees the progress of its run, and why it waits: run show, run watch and explain read these.
GRANT SELECT ON
    lockstep.queue, lockstep.executor, lockstep.executor_session, lockstep.executor_aside, lockstep.slot, lockstep.run,
    lockstep.phase, lockstep.task_attempt, lockstep.rejected_message, lockstep.event_log, lockstep.relay,
    lockstep.retention, lockstep.run_summary, lockstep.run_count
    TO lockstep_producer, lockstep_operator, lockstep_monitor;
GRANT SELECT ON lockstep.slot_waiter, lockstep.idempotency_key, lockstep.worker_report, lockstep.outbox
    TO lockstep_operator, lockstep_monitor;

-- All of a task but its token: a member of lockstep_task that reads it could end an attempt of another task.
GRANT SELECT (task_id, phase_id, run_no, queue_id, status, type, "order", seq, kafka_offset, name, payload, traceparent,
              executor_no, attempt_num, max_attempts, lost_num, step, response, error, scheduled_for, started_at,
              duration, updated_at, cancelled_by, worker, lease_until, condition, key, skipped, needs, backend_pid,
              rows, notices) ON lockstep.task
    TO lockstep_producer, lockstep_operator, lockstep_monitor;
-- All of an enqueued run but its messages.
GRANT SELECT (enqueue_id, queue_id, run_no, run_id, phases, bytes, floor_offset, enqueued_at) ON lockstep.enqueued
    TO lockstep_producer, lockstep_operator, lockstep_monitor;
-- Without schedule_uid: a login that knows it knows the ids of runs to come.
GRANT SELECT (schedule_id, job_id, name, spec, rule, after_job, after_end, rows_rule, is_active, misfire,
              catchup_window, jitter, grace, next_at, wake_at, due_at, queued_for, queued_missed_from, queued_missed,
              look, fired_at, failing_since, failing_why, uses_sql, asked_until) ON lockstep.schedule
    TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
-- All of a token but its hash.
GRANT SELECT (token_no, name, operator, producer, pinger, created_by, created_at, expires_at, last_used_at, revoked_by,
    revoked_at)
    ON lockstep.console_token TO lockstep_operator, lockstep_monitor;
