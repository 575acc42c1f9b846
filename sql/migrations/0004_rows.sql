-- Triggers of jobs: rows that wait in a table; and SQL of users, which runs as the tasks' login and comes back with a token (docs/explanation/scheduler.md).
CREATE TYPE lockstep.rows_rule AS (
    relation text,              -- quoted and with its schema; NULL: this is no trigger
    relation_oid oid,
    pending text,               -- which of its rows wait
    created_column text,        -- quoted; NULL: none
    check_every interval,
    threshold bigint,           -- fires when so many wait; NULL: never for their number
    idle interval,              -- fires when the oldest waits for so long
    debounce interval,          -- fires when the newest one is so old, or
    max_wait interval,          -- the oldest
    min_between interval,       -- from firing to firing
    mark text                   -- a statement that runs in the firing transaction
);
CREATE TYPE lockstep.rows_look AS (
    at timestamptz,             -- of the transaction that looked
    rows bigint,                -- counted to the threshold and one more
    oldest_at timestamptz, newest_at timestamptz,
    failures int,               -- looks in a row that failed
    error text                  -- of the last one
);
ALTER TABLE lockstep.schedule ADD COLUMN rows_rule lockstep.rows_rule, ADD COLUMN look lockstep.rows_look,
    ADD COLUMN fired_at timestamptz,            -- of a trigger
    ADD COLUMN uses_sql boolean NOT NULL DEFAULT false, -- it cannot be decided, or not fire, without SQL of users
    ADD COLUMN asked_until timestamptz;         -- that SQL is under way; nothing else decides it before
ALTER TABLE lockstep.schedule DROP CONSTRAINT schedule_kind;
ALTER TABLE lockstep.schedule ADD CONSTRAINT schedule_kind CHECK (pg_catalog.num_nonnulls(rule, after_job, rows_rule) = 1 AND pg_catalog.num_nulls(after_job, after_end) <> 1);
CREATE INDEX schedule_asked ON lockstep.schedule (asked_until) WHERE asked_until IS NOT NULL;
CREATE INDEX schedule_rows ON lockstep.schedule (((rows_rule).relation_oid)) WHERE (rows_rule).relation_oid IS NOT NULL AND is_active;
GRANT SELECT (rows_rule, look, fired_at, uses_sql, asked_until) ON lockstep.schedule TO lockstep_executor, lockstep_producer, lockstep_operator, lockstep_monitor;

-- What is asked of the tasks' login for one firing. Who has the token fires: so nobody reads this table.
CREATE TABLE lockstep.job_ask (
    token uuid PRIMARY KEY DEFAULT pg_catalog.gen_random_uuid(),
    job_id int NOT NULL REFERENCES lockstep.job ON DELETE CASCADE,
    schedule_id int UNIQUE REFERENCES lockstep.schedule ON DELETE CASCADE, -- NULL: by hand
    scheduled_for timestamptz NOT NULL,
    run_id uuid NOT NULL,
    asked_at timestamptz NOT NULL,              -- as the decision took it
    source text NOT NULL,
    params jsonb,
    asked_by text NOT NULL
);
CREATE INDEX job_ask_of_job ON lockstep.job_ask (job_id);
CREATE TYPE lockstep.dispatched AS (
    verdict text, job text, schedule text, scheduled_for timestamptz, run uuid, reason text, wait_ms bigint,
    token uuid, look text, mark text, query text, words jsonb
);
ALTER TABLE lockstep.job_event ADD COLUMN rows bigint;
ALTER TABLE lockstep.job_occurrence ADD COLUMN rows bigint;
