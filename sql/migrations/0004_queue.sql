-- A queue: one partition, its cursor, its bound. The row is the lock under which everything about the queue is decided:
-- a claim, and every rare change of a run, takes it first and waits for nothing else while it holds it.
CREATE TABLE lockstep.queue (
    queue_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
    topic text NOT NULL,
    partition int NOT NULL DEFAULT 0 CHECK (partition >= 0),
    next_offset bigint NOT NULL DEFAULT 0 CHECK (next_offset >= 0), -- the cursor: everything below it is claimed
    max_readers int NOT NULL DEFAULT 5 CHECK (max_readers BETWEEN 0 AND 1000),
    lookahead int NOT NULL DEFAULT 8 CHECK (lookahead BETWEEN 1 AND 1000), -- phases claimed beyond the open one
    on_failure text NOT NULL DEFAULT 'stop' CHECK (on_failure IN ('stop', 'continue', 'pause')),
    runs text NOT NULL DEFAULT 'serial' CHECK (runs IN ('serial', 'concurrent')),
    max_attempts int NOT NULL DEFAULT 1 CHECK (max_attempts BETWEEN 1 AND 1000),
    retry_intervals double precision[] NOT NULL DEFAULT '{1}', -- seconds; the last repeats
    paused boolean NOT NULL DEFAULT false,
    paused_by text,
    paused_at timestamptz,
    -- Identity of the topic: a mismatch halts the queue until an operator accepts it.
    cluster_id text,
    last_offset bigint,     -- the last claimed data record,
    last_timestamp bigint,  -- its timestamp (ms since 1970)
    last_digest bytea,      -- and the digest of its key and value
    halted_reason text,     -- a short word
    halted_detail text,     -- a sentence, and what resolves it
    halted_at timestamptz,
    -- Tag state.
    last_run_no bigint,     -- the newest run in log order
    implicit_run_no bigint, -- the open implicit run
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 10); -- one hot row a queue: room for HOT updates
