-- Retention: how long a queue keeps the tasks of ended runs (docs/OPERATING.md). A run is kept as long as one of the settings keeps
-- it; with none of them, for ever. Its own row stays, with the sums of what was deleted: see run_status.
ALTER TABLE lockstep.queue
    ADD COLUMN keep_runs int CHECK (keep_runs >= 0),
    ADD COLUMN keep_days int CHECK (keep_days >= 0),
    ADD COLUMN keep_failed_days int CHECK (keep_failed_days >= 0), -- of runs that did not complete; NULL: as the others
    ADD COLUMN keep_set_by text,        -- who said so; NULL: an executor, from [queue:NAME] of its file
    ADD COLUMN swept_at timestamptz,    -- the last sweep ended
    ADD COLUMN swept_detail text;       -- and what it did, or why not
