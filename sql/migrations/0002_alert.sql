-- Alerts: incidents of jobs that the monitor found, what was sent of them to whom, and silences (docs/reference/jobs.md).
CREATE TABLE lockstep.monitor (
    monitor_id int PRIMARY KEY DEFAULT 1 CHECK (monitor_id = 1), -- there is one row
    looked_at timestamptz,                      -- the last look; NULL: there was none
    looked_by text,
    every interval,                             -- how often that one looks
    quiet_until timestamptz                     -- after an absence of all monitors: nothing is raised before
);
INSERT INTO lockstep.monitor DEFAULT VALUES;
CREATE TABLE lockstep.job_alert (
    alert_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job text NOT NULL,                          -- its name: an incident outlives the job; '': of the monitor itself
    kind text NOT NULL,
    since timestamptz,                          -- as job_health says
    seen_at timestamptz NOT NULL,               -- the first look that saw it
    last_seen_at timestamptz NOT NULL,
    opened_at timestamptz,                      -- NULL: one look has seen it
    unseen int NOT NULL DEFAULT 0,              -- looks in a row that have not
    text text,
    acknowledged_by text,
    acknowledged_at timestamptz,
    note text,
    closed_at timestamptz,
    ended text,                                 -- how: it may be no longer looked at
    CONSTRAINT job_alert_kind CHECK (kind IN ('missed', 'stuck', 'failed', 'late', 'never', 'blocked', 'absent')),
    CONSTRAINT job_alert_ended CHECK (ended IN ('recovered', 'changed', 'disabled', 'paused', 'silenced', 'deleted'))
);
CREATE UNIQUE INDEX job_alert_open ON lockstep.job_alert (job, kind) WHERE closed_at IS NULL;
CREATE INDEX job_alert_closed ON lockstep.job_alert (closed_at) WHERE closed_at IS NOT NULL;
CREATE TABLE lockstep.job_notice (
    notice_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    alert_id bigint NOT NULL REFERENCES lockstep.job_alert ON DELETE CASCADE,
    receiver text NOT NULL,                     -- NAME of [alert:NAME]
    notice text NOT NULL,
    number int NOT NULL,                        -- of a reminder
    made_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL,                -- the next attempt; while one is made, when it counts as lost
    attempts int NOT NULL DEFAULT 0,
    by_whom text,                               -- made the last attempt
    error text,                                 -- of the last attempt
    delivered_at timestamptz,
    UNIQUE (alert_id, receiver, notice, number),
    CONSTRAINT job_notice_notice CHECK (notice IN ('opened', 'reminder', 'closed'))
);
CREATE INDEX job_notice_due ON lockstep.job_notice (receiver, due_at) WHERE delivered_at IS NULL;
CREATE TABLE lockstep.job_silence (
    job_id int PRIMARY KEY REFERENCES lockstep.job ON DELETE CASCADE,
    until timestamptz NOT NULL,
    reason text NOT NULL,
    set_by text NOT NULL,
    set_at timestamptz NOT NULL
);
ALTER TABLE lockstep.job_event DROP CONSTRAINT job_event_event;
ALTER TABLE lockstep.job_event ADD CONSTRAINT job_event_event
    CHECK (event IN ('fired', 'skipped', 'missed', 'completed', 'error', 'zombie', 'changed', 'alert', 'recovered'));
