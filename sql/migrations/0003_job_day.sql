-- Sums of the times of jobs that are no longer kept, and where their sweep continues.
CREATE TABLE lockstep.job_day_swept (
    job_id int NOT NULL REFERENCES lockstep.job ON DELETE CASCADE,
    day date NOT NULL,                          -- in UTC
    times bigint NOT NULL,                      -- decided: what follows but completed and failed, which are of fired
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
