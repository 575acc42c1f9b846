-- A replay: a second cursor over a range of the topic. Everything of [from_offset, to_offset) below the cursor is dealt with: the
-- cursor moves in the transaction that makes or reopens the rows, so a replay that was interrupted goes on and does nothing
-- twice. At most one of a queue is under way.
CREATE TABLE lockstep.replay (
    replay_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    mode text NOT NULL CHECK (mode IN ('missing', 'failed', 'all')),
    from_offset bigint NOT NULL CHECK (from_offset >= 0),
    to_offset bigint NOT NULL CHECK (to_offset >= from_offset), -- the first one that is not replayed
    run_id uuid,            -- of this run only
    "order" bigint,         -- of this phase only
    cursor bigint NOT NULL,
    implicit_run_no bigint, -- the implicit run that is open at the cursor: the queue's is that of the live end
    last_run_no bigint,     -- the run before the cursor in log order
    made bigint NOT NULL DEFAULT 0,     -- rows made from messages that had none
    reopened bigint NOT NULL DEFAULT 0, -- finished tasks made unfinished again
    state text NOT NULL DEFAULT 'Running' CHECK (state IN ('Running', 'Completed', 'Abandoned')),
    reason text NOT NULL,
    started_by text NOT NULL DEFAULT session_user,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz
);
CREATE UNIQUE INDEX replay_open ON lockstep.replay (queue_id) WHERE ended_at IS NULL;
GRANT SELECT ON lockstep.replay TO lockstep_executor, lockstep_operator, lockstep_monitor;

-- What a reopening leaves on a run, and which replay is going over it.
ALTER TABLE lockstep.run
    ADD COLUMN replay_id int,            -- it does not end before this replay has passed its end
    ADD COLUMN reopened_at timestamptz,  -- finished tasks of it were made unfinished again
    ADD COLUMN stop_lifted bigint;       -- the stop_after that a reopening took back: what lies behind was cancelled for it
CREATE INDEX run_replay ON lockstep.run (replay_id) WHERE replay_id IS NOT NULL;
CREATE INDEX run_log ON lockstep.run (queue_id, first_offset) WHERE first_offset IS NOT NULL; -- the run at an offset

-- The phase with which a reopened run goes on waits for the runs before it, as a first phase does.
ALTER TABLE lockstep.phase ADD COLUMN after_runs boolean NOT NULL DEFAULT false;

DROP FUNCTION IF EXISTS lockstep.adopt; -- its parameters have changed; the functions are applied after this
