-- A run: phases published together. Written under the lock of its queue's row only.
CREATE TABLE lockstep.run (
    run_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in order of first sight
    run_id uuid NOT NULL,
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    name text,
    implicit boolean NOT NULL DEFAULT false,
    on_failure text NOT NULL CHECK (on_failure IN ('stop', 'continue', 'pause')),
    status text NOT NULL CHECK (status IN ('Publishing', 'Running', 'Paused', 'Completed', 'PartiallyCompleted',
                                           'Failed', 'Cancelled')),
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
    stop_after bigint,                     -- phases of a later order are cancelled: the order that failed under "stop", 0 after a loss
    error text,                            -- what ended it badly, in a sentence
    published_by text,
    published_at timestamptz,
    publish_digest text,                   -- of the source, when it is repeatable
    publish_acked_seq bigint,
    publish_acked_offset bigint,
    started_at timestamptz,
    ended_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (queue_id, run_id)
) WITH (fillfactor = 50);

CREATE INDEX run_by_id ON lockstep.run (run_id);
CREATE INDEX run_active ON lockstep.run (queue_id, run_no) WHERE ended_at IS NULL;

-- A phase: (run, order). Its id names its two advisory locks. A claim of the first message makes the row; afterwards it is
-- written only by the gate that opens it, by the one that finds it done, and by whoever reopens it.
CREATE TABLE lockstep.phase (
    phase_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_no bigint NOT NULL REFERENCES lockstep.run ON DELETE CASCADE,
    queue_id int NOT NULL,
    "order" bigint NOT NULL,
    previous_order bigint NOT NULL,
    previous_phase_id bigint, -- of the same run; NULL: its first
    claimed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    opened_at timestamptz,
    done_at timestamptz,
    UNIQUE (run_no, "order")
) WITH (fillfactor = 50);

CREATE INDEX phase_undone ON lockstep.phase (queue_id, run_no, "order") WHERE done_at IS NULL;
