-- Retention: how long a queue keeps the tasks of ended runs (docs/OPERATING.md). A run is kept as long as one of the settings keeps
-- it; with none of them, for ever. Its own row stays, with the sums of what was deleted: see run_status.
ALTER TABLE lockstep.queue
    ADD COLUMN keep_runs int CHECK (keep_runs BETWEEN 1 AND 1000000),
    ADD COLUMN keep_days int CHECK (keep_days BETWEEN 1 AND 36500),
    ADD COLUMN keep_failed_days int CHECK (keep_failed_days BETWEEN 1 AND 36500), -- of runs that did not complete; NULL: as the others
    ADD COLUMN keep_set_by text; -- who said so; NULL: an executor, from [queue:NAME] of its file

-- What retention did last. Not in the queue's row: that is the claims' to lock and to copy.
CREATE TABLE lockstep.retention (
    queue_id int PRIMARY KEY REFERENCES lockstep.queue ON DELETE CASCADE,
    swept_at timestamptz,    -- the last sweep ended
    detail text,             -- and what it did, or why not
    rejected int8range       -- offsets from the first to the last of the rejected messages of no known run that were deleted
);

-- What is left of a run whose tasks retention has deleted, or begun to: the sums of the deleted ones. Such a run is over for good:
-- it is neither retried nor replayed.
CREATE TABLE lockstep.run_summary (
    run_no bigint PRIMARY KEY REFERENCES lockstep.run ON DELETE CASCADE,
    tasks bigint NOT NULL DEFAULT 0,
    completed bigint NOT NULL DEFAULT 0,
    failed bigint NOT NULL DEFAULT 0,
    cancelled bigint NOT NULL DEFAULT 0,
    attempts bigint NOT NULL DEFAULT 0,          -- beside the one that each task's row tells of
    busy interval NOT NULL DEFAULT '0',          -- the time that its last attempts took, together
    begun_at timestamptz,                        -- NULL: nothing is deleted yet
    swept_at timestamptz,                        -- all of it is
    upto_order bigint,                           -- where the next batch begins: what is deleted is still in the indexes for a while
    upto_offset bigint,
    held text,                                   -- why it could not go on, as when another table refers to its tasks
    look_at timestamptz                          -- then it is tried again
);
ALTER TABLE lockstep.run ADD COLUMN swept boolean NOT NULL DEFAULT false; -- begun_at is set: in the row, for the index
CREATE INDEX run_unswept ON lockstep.run (queue_id, run_no) WHERE ended_at IS NOT NULL AND NOT swept;
CREATE INDEX run_summary_unfinished ON lockstep.run_summary (run_no) WHERE swept_at IS NULL;
-- What is still to be sent of a run, and what of no run has grown old. All of these are written rarely.
CREATE INDEX outbox_run ON lockstep.outbox (run_no) WHERE run_no IS NOT NULL;
CREATE INDEX outbox_rejected ON lockstep.outbox (rejected_id) WHERE rejected_id IS NOT NULL;
CREATE INDEX rejected_run ON lockstep.rejected_message (run_no) WHERE run_no IS NOT NULL;
CREATE INDEX rejected_at ON lockstep.rejected_message (queue_id, rejected_at);
CREATE INDEX event_log_queue ON lockstep.event_log (queue_id, at) WHERE run_no IS NULL;

GRANT SELECT, INSERT, UPDATE, DELETE ON lockstep.run_summary, lockstep.retention TO lockstep_executor;
GRANT SELECT ON lockstep.run_summary, lockstep.retention TO lockstep_producer, lockstep_operator, lockstep_monitor;

CREATE OR REPLACE VIEW lockstep.run_status AS
SELECT q.name AS queue, r.run_id, r.name, r.status, c.tasks + COALESCE(s.tasks, 0) AS tasks, c.pending, c.processing, c.error,
       c.completed + COALESCE(s.completed, 0) AS completed, c.failed + COALESCE(s.failed, 0) + r.rejected AS failed,
       c.cancelled + COALESCE(s.cancelled, 0) AS cancelled,
       (SELECT p."order" FROM lockstep.phase p WHERE p.run_no = r.run_no AND p.opened_at IS NOT NULL AND p.done_at IS NULL
        ORDER BY p."order" LIMIT 1) AS "order",
       r.published_at, r.started_at, r.ended_at, r.phases, r.rejected, r.on_failure, r.implicit, r.error AS reason, r.run_no,
       r.end_tasks, r.end_phases, s.swept_at, r.swept
FROM lockstep.run r
JOIN lockstep.queue q USING (queue_id)
LEFT JOIN lockstep.run_summary s USING (run_no)
CROSS JOIN LATERAL (
    SELECT count(*) AS tasks,
           count(*) FILTER (WHERE t.status IN ('Pending', 'Paused')) AS pending,
           count(*) FILTER (WHERE t.status = 'Processing') AS processing,
           count(*) FILTER (WHERE t.status = 'Error') AS error,
           count(*) FILTER (WHERE t.status = 'Completed') AS completed,
           count(*) FILTER (WHERE t.status IN ('Failed', 'Terminated', 'PartiallyCompleted')) AS failed,
           count(*) FILTER (WHERE t.status = 'Cancelled') AS cancelled
    FROM lockstep.phase p JOIN lockstep.task t USING (phase_id) WHERE p.run_no = r.run_no) c;
