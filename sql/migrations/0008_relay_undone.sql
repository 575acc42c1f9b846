-- The timeline of the server on which the relay of enqueued runs began last; and, after a change of it, up to which offset the topic may have runs that the database has forgotten. They are in
-- enqueue_undone until the queue's cursor is behind them.
ALTER TABLE lockstep.relay ADD COLUMN timeline bigint, ADD COLUMN undone_until bigint;
CREATE TABLE lockstep.enqueue_undone (
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    run_id uuid NOT NULL,
    PRIMARY KEY (queue_id, run_id)
);
GRANT SELECT, INSERT, DELETE ON lockstep.enqueue_undone TO lockstep_executor;
