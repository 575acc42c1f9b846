-- Jobs: templates of runs, the rules of their times, and what became of each time (docs/explanation/scheduler.md).
CREATE TABLE lockstep.job (
    job_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    spec jsonb NOT NULL,                        -- as people wrote it: tasks, defaults, schedules, policies
    enabled boolean NOT NULL,
    overlap text NOT NULL,                      -- what it does when a run of it has not ended
    zombie_after interval NOT NULL,
    max_runtime interval,                       -- NULL: any
    version int NOT NULL DEFAULT 1,             -- grows with each change
    file text,                                  -- that declared it (lockstep job apply)
    declared jsonb,                             -- the spec, as that file said it
    created_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    changed_by text NOT NULL DEFAULT SESSION_USER,
    CONSTRAINT job_overlap CHECK (overlap IN ('skip', 'queue_one', 'allow', 'cancel'))
);
CREATE INDEX job_of_queue ON lockstep.job (queue_id);
CREATE TABLE lockstep.schedule (
    schedule_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    schedule_uid uuid NOT NULL DEFAULT pg_catalog.gen_random_uuid(), -- in the ids of its runs: a number may be given again after a restore
    job_id int NOT NULL REFERENCES lockstep.job ON DELETE CASCADE,
    name text NOT NULL,
    spec jsonb NOT NULL,                        -- as people wrote it
    rule lockstep.rule,                         -- NULL: after another job
    after_job int REFERENCES lockstep.job ON DELETE CASCADE,
    after_end text,
    is_active boolean NOT NULL,                 -- it and its job are enabled
    misfire text NOT NULL,
    catchup_window interval NOT NULL,
    jitter interval NOT NULL,
    next_at timestamptz,                        -- the first time that is not decided; NULL: none is known
    wake_at timestamptz,                        -- when the dispatcher looks at it; NULL: there is no time
    queued_for timestamptz,                     -- decided, and fires when the job's run has ended
    UNIQUE (job_id, name),
    CONSTRAINT schedule_after_end CHECK (after_end IN ('success', 'failure', 'always')),
    CONSTRAINT schedule_kind CHECK (pg_catalog.num_nonnulls(rule, after_job) = 1 AND pg_catalog.num_nulls(after_job, after_end) <> 1),
    CONSTRAINT schedule_misfire CHECK (misfire IN ('once', 'all', 'skip'))
);
CREATE INDEX schedule_due ON lockstep.schedule (wake_at) WHERE is_active AND wake_at IS NOT NULL;
CREATE INDEX schedule_after ON lockstep.schedule (after_job) WHERE after_job IS NOT NULL;
CREATE TABLE lockstep.job_occurrence (
    occurrence_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id int NOT NULL REFERENCES lockstep.job ON DELETE CASCADE,
    schedule_id int REFERENCES lockstep.schedule ON DELETE SET NULL,   -- NULL: by hand
    scheduled_for timestamptz NOT NULL,
    decided_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    outcome text NOT NULL,
    source text NOT NULL,                       -- why: schedule nightly, manual by etl_oncall, after load (Completed)
    reason text,
    run_id uuid,
    missed_from timestamptz,                    -- the times before it that passed undecided
    missed_count int NOT NULL DEFAULT 0,
    dispatcher text NOT NULL,
    status text,                                -- of the run, when it has ended
    ended_at timestamptz,
    UNIQUE (schedule_id, scheduled_for),
    CONSTRAINT job_occurrence_outcome CHECK (outcome IN ('fired', 'skipped', 'missed', 'error'))
);
CREATE INDEX job_occurrence_of_job ON lockstep.job_occurrence (job_id, scheduled_for DESC);
CREATE INDEX job_occurrence_good ON lockstep.job_occurrence (job_id, scheduled_for DESC) WHERE status = 'Completed';
CREATE INDEX job_occurrence_at ON lockstep.job_occurrence (decided_at);
CREATE INDEX job_occurrence_of_run ON lockstep.job_occurrence (run_id) WHERE run_id IS NOT NULL;
CREATE TABLE lockstep.job_event (
    job_event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job text NOT NULL,                          -- its name: the log outlives the job
    at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    event text NOT NULL,
    source text,
    message text,
    run_id uuid,
    duration interval,
    CONSTRAINT job_event_event CHECK (event IN ('fired', 'skipped', 'missed', 'completed', 'error', 'zombie', 'changed'))
);
CREATE INDEX job_event_of_job ON lockstep.job_event (job, at DESC);
CREATE INDEX job_event_at ON lockstep.job_event (at);
-- Without schedule_uid: who knows it knows the ids of runs to come.
GRANT SELECT (schedule_id, job_id, name, spec, rule, after_job, after_end, is_active, misfire, catchup_window, jitter, next_at, wake_at, queued_for)
    ON lockstep.schedule TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;
GRANT SELECT ON lockstep.job, lockstep.job_occurrence, lockstep.job_event TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;

-- What started a run, and of which job it is.
ALTER TABLE lockstep.run ADD COLUMN job_id int, ADD COLUMN started_by text;
CREATE INDEX run_of_job ON lockstep.run (job_id) WHERE job_id IS NOT NULL AND ended_at IS NULL;

CREATE FUNCTION lockstep.job_run_ended() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$; -- sql/functions/job has it
CREATE TRIGGER job_run_ended AFTER UPDATE OF ended_at ON lockstep.run FOR EACH ROW
    WHEN (NEW.job_id IS NOT NULL AND OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL) EXECUTE FUNCTION lockstep.job_run_ended();

ALTER TABLE lockstep.executor_session DROP CONSTRAINT executor_session_kind_check;
ALTER TABLE lockstep.executor_session ADD CONSTRAINT executor_session_kind_check
    CHECK (kind IN ('control', 'liveness', 'gate', 'reader', 'relay', 'dispatcher'));
