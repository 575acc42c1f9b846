-- Runs that were enqueued by SQL (lockstep.enqueue, enqueue_trigger) and are not on the topic yet: the outbox of work. Written in the
-- caller's transaction together with the run's row; sent by the relay of an executor, whole runs at a time; deleted when they are
-- known to be on the topic. docs/PUBLISH.md says what is promised.
CREATE TABLE lockstep.enqueued (
    enqueue_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- they are sent in this order, as far as they can be seen
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

INSERT INTO lockstep.wait_reason (reason, meaning, helps) VALUES
    ('run_enqueued', 'a run that was enqueued by SQL is not on the topic yet',
     'An executor of the queue sends it within a moment, when no publisher holds the queue. What keeps it: lockstep queue show QUEUE');

GRANT SELECT, DELETE ON lockstep.enqueued TO lockstep_executor;
GRANT SELECT (enqueue_id, queue_id, run_no, run_id, phases, bytes, floor_offset, enqueued_at) ON lockstep.enqueued
    TO lockstep_producer, lockstep_operator, lockstep_monitor;
