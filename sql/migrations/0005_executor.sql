-- An executor incarnation: a fresh row per start. Its advisory lock (class of executors, executor_no) tells that it lives.
CREATE TABLE lockstep.executor (
    executor_no int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    executor_id uuid NOT NULL UNIQUE,
    host text NOT NULL,
    pid int NOT NULL,
    version text NOT NULL,
    readers int NOT NULL,
    queues text[] NOT NULL,
    heartbeat bigint NOT NULL DEFAULT 0,      -- a counter: observers judge its standstill by their own clock
    heartbeat_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- for people only
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,
    ended_why text
) WITH (fillfactor = 50);

CREATE INDEX executor_live ON lockstep.executor (executor_no) WHERE ended_at IS NULL;

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

-- Executors that have startable work and no slot: whoever gives one back notifies them.
CREATE TABLE lockstep.slot_waiter (
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    executor_no int NOT NULL REFERENCES lockstep.executor ON DELETE CASCADE,
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (queue_id, executor_no)
);
