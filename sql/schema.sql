-- The schema lockstep, as sql/migrations and sql/views add up to it. Written by ./dev schema, compared by the test db.migrate, applied by nobody.
-- A view is shown by its columns. Functions are in sql/functions and sql/api; roles in sql/migrations/0001_baseline.sql.

CREATE SCHEMA lockstep;
GRANT USAGE ON SCHEMA lockstep TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer, lockstep_task, lockstep_worker;

CREATE TYPE lockstep.dispatched AS (
    verdict text,
    job text,
    schedule text,
    scheduled_for timestamp with time zone,
    run uuid,
    reason text,
    wait_us bigint,
    token uuid,
    look text,
    mark text,
    query text,
    words jsonb
);

CREATE TYPE lockstep.explanation AS (
    reason text,
    sentence text,
    about text,
    since timestamp with time zone,
    helps text
);

CREATE TYPE lockstep.rows_look AS (
    at timestamp with time zone,
    rows bigint,
    oldest_at timestamp with time zone,
    newest_at timestamp with time zone,
    failures integer,
    error text
);

CREATE TYPE lockstep.rows_rule AS (
    relation text,
    pending text,
    created_column text,
    check_every interval,
    threshold bigint,
    idle interval,
    debounce interval,
    max_wait interval,
    min_between interval,
    mark text
);

CREATE TYPE lockstep.rule AS (
    kind text,
    zone text,
    is_fixed boolean,
    start_date date,
    end_date date,
    factor integer,
    months integer,
    days bigint,
    days_from_end bigint,
    workdays bigint,
    last_workday boolean,
    weekdays integer,
    nth_weekdays bigint,
    last_weekdays integer,
    ordinal integer,
    is_both boolean,
    hours integer,
    minutes bigint,
    seconds bigint,
    times integer[],
    opens integer,
    closes integer,
    step integer,
    every bigint,
    phase bigint,
    instant timestamp with time zone,
    not_before timestamp with time zone,
    not_after timestamp with time zone
);

CREATE TYPE lockstep.segment AS (
    kind text,
    run uuid,
    implicit uuid,
    "order" bigint,
    previous bigint,
    offsets bigint[],
    seqs bigint[],
    payloads text[],
    names text[],
    max_attempts integer[],
    traceparents text[],
    last_timestamp bigint,
    last_digest bytea,
    reasons text[],
    details text[],
    raws bytea[],
    keys bytea[],
    end_tasks bigint,
    end_phases bigint,
    aborted boolean,
    header_offsets bigint[],
    header_names text[],
    header_values bytea[],
    withheld boolean,
    special boolean
);

CREATE TYPE lockstep.status AS ENUM (
    'Pending',
    'Processing',
    'Error',
    'Failed',
    'Completed',
    'Cancelled',
    'Paused',
    'Terminated',
    'PartiallyCompleted'
);

CREATE TYPE lockstep.worker_task AS (
    task_id bigint,
    updated_at timestamp with time zone,
    status text,
    step text,
    attempt_num integer,
    max_attempts integer,
    response text,
    error text,
    scheduled_for timestamp with time zone,
    started_at timestamp with time zone,
    duration interval,
    lease_until timestamp with time zone
);

CREATE TABLE lockstep.console_change (
    change_no bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    visitor text NOT NULL,
    key text NOT NULL,
    digest bytea NOT NULL,
    answer text,
    made_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT console_change_pkey PRIMARY KEY (change_no),
    CONSTRAINT console_change_visitor_key_key UNIQUE (visitor, key)
);
CREATE INDEX console_change_made ON lockstep.console_change (made_at);

CREATE TABLE lockstep.console_token (
    token_no integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    hash bytea NOT NULL,
    operator boolean NOT NULL,
    producer boolean DEFAULT false NOT NULL,
    pinger boolean DEFAULT false NOT NULL,
    created_by text DEFAULT lockstep.actor() NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_by text,
    revoked_at timestamp with time zone,
    CONSTRAINT console_token_pkey PRIMARY KEY (token_no),
    CONSTRAINT console_token_hash_key UNIQUE (hash),
    CONSTRAINT console_token_name_key UNIQUE (name)
);
GRANT SELECT (token_no, name, operator, producer, pinger, created_by, created_at, expires_at, last_used_at, revoked_by, revoked_at) ON TABLE lockstep.console_token TO lockstep_monitor, lockstep_operator;

CREATE TABLE lockstep.definitions (
    changes bigint NOT NULL
)
WITH (fillfactor='10');
CREATE UNIQUE INDEX definitions_one ON lockstep.definitions ((true));
GRANT SELECT ON TABLE lockstep.definitions TO lockstep_executor, lockstep_monitor, lockstep_operator;

CREATE TABLE lockstep.enqueue_undone (
    queue_id integer NOT NULL,
    run_id uuid NOT NULL,
    CONSTRAINT enqueue_undone_pkey PRIMARY KEY (queue_id, run_id),
    CONSTRAINT enqueue_undone_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE
);
GRANT SELECT, INSERT, DELETE ON TABLE lockstep.enqueue_undone TO lockstep_executor;

CREATE TABLE lockstep.enqueued (
    enqueue_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    queue_id integer NOT NULL,
    run_no bigint NOT NULL,
    run_id uuid NOT NULL,
    messages text[] NOT NULL,
    phases integer NOT NULL,
    bytes bigint NOT NULL,
    floor_offset bigint NOT NULL,
    enqueued_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT enqueued_pkey PRIMARY KEY (enqueue_id),
    CONSTRAINT enqueued_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE
)
WITH (autovacuum_vacuum_scale_factor='0.02');
CREATE INDEX enqueued_queue ON lockstep.enqueued (queue_id, enqueue_id);
CREATE INDEX enqueued_run ON lockstep.enqueued (run_id);
GRANT SELECT (enqueue_id, queue_id, run_no, run_id, phases, bytes, floor_offset, enqueued_at) ON TABLE lockstep.enqueued TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, DELETE ON TABLE lockstep.enqueued TO lockstep_executor;

CREATE TABLE lockstep.event_log (
    event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    event text NOT NULL,
    queue_id integer,
    run_no bigint,
    phase_id bigint,
    task_id bigint,
    executor_no integer,
    job text,
    actor text DEFAULT lockstep.actor() NOT NULL,
    detail text,
    CONSTRAINT event_log_pkey PRIMARY KEY (event_id)
);
CREATE INDEX event_log_queue ON lockstep.event_log (queue_id, at) WHERE (run_no IS NULL);
CREATE INDEX event_log_run ON lockstep.event_log (run_no, event_id);
CREATE TRIGGER to_outbox AFTER INSERT ON lockstep.event_log FOR EACH ROW WHEN (((new.queue_id IS NOT NULL) AND (new.event <> 'phase_opened'::text))) EXECUTE FUNCTION lockstep.event_logged();
GRANT SELECT ON TABLE lockstep.event_log TO lockstep_monitor, lockstep_producer;
GRANT SELECT, INSERT (event, queue_id, detail) ON TABLE lockstep.event_log TO lockstep_operator;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.event_log TO lockstep_executor;

CREATE TABLE lockstep.event_type (
    event text NOT NULL,
    about text NOT NULL,
    meaning text NOT NULL,
    CONSTRAINT event_type_about_check CHECK ((about = ANY (ARRAY['queue'::text, 'run'::text, 'phase'::text, 'task'::text, 'job'::text]))),
    CONSTRAINT event_type_pkey PRIMARY KEY (event)
);
GRANT SELECT ON TABLE lockstep.event_type TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE TABLE lockstep.executor (
    executor_no integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    executor_id uuid NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    readers integer NOT NULL,
    queues text[] NOT NULL,
    heartbeat bigint DEFAULT 0 NOT NULL,
    heartbeat_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    ended_why text,
    busy boolean DEFAULT false NOT NULL,
    readers_limit integer,
    drain_by text,
    drain_at timestamp with time zone,
    unable text[] DEFAULT '{}'::text[] NOT NULL,
    trouble text,
    trouble_at timestamp with time zone,
    ended_error text,
    frozen_after interval DEFAULT '00:00:10'::interval NOT NULL,
    trouble_kind text,
    ends bigint[],
    queue_trouble text[],
    queue_trouble_at timestamp with time zone[],
    memory_bytes bigint,
    login name DEFAULT SESSION_USER NOT NULL,
    signalled text,
    CONSTRAINT executor_check CHECK (((readers_limit >= 0) AND (readers_limit <= readers))),
    CONSTRAINT executor_pkey PRIMARY KEY (executor_no),
    CONSTRAINT executor_executor_id_key UNIQUE (executor_id)
)
WITH (fillfactor='50');
CREATE INDEX executor_died ON lockstep.executor (ended_at) WHERE (ended_why IS DISTINCT FROM 'drained'::text);
CREATE INDEX executor_live ON lockstep.executor (executor_no) WHERE (ended_at IS NULL);
GRANT SELECT ON TABLE lockstep.executor TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.executor TO lockstep_executor;

CREATE TABLE lockstep.executor_aside (
    executor_no integer NOT NULL,
    queue_id integer NOT NULL,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    failed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    until_at timestamp with time zone,
    error text NOT NULL,
    CONSTRAINT executor_aside_pkey PRIMARY KEY (queue_id, executor_no),
    CONSTRAINT executor_aside_executor_no_fkey FOREIGN KEY (executor_no) REFERENCES lockstep.executor(executor_no) ON DELETE CASCADE
);
GRANT SELECT ON TABLE lockstep.executor_aside TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.executor_aside TO lockstep_executor;

CREATE TABLE lockstep.executor_session (
    executor_no integer NOT NULL,
    pid integer NOT NULL,
    backend_start timestamp with time zone NOT NULL,
    kind text NOT NULL,
    CONSTRAINT executor_session_kind_check CHECK ((kind = ANY (ARRAY['control'::text, 'liveness'::text, 'gate'::text, 'reader'::text, 'relay'::text, 'dispatcher'::text]))),
    CONSTRAINT executor_session_pkey PRIMARY KEY (executor_no, pid, backend_start),
    CONSTRAINT executor_session_executor_no_fkey FOREIGN KEY (executor_no) REFERENCES lockstep.executor(executor_no) ON DELETE CASCADE
);
GRANT SELECT ON TABLE lockstep.executor_session TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.executor_session TO lockstep_executor;

CREATE TABLE lockstep.function_version (
    name text NOT NULL,
    checksum text NOT NULL,
    release text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    applied_by text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT function_version_pkey PRIMARY KEY (name)
);
GRANT SELECT ON TABLE lockstep.function_version TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE TABLE lockstep.halt_reason (
    reason text NOT NULL,
    meaning text NOT NULL,
    remedy text NOT NULL,
    CONSTRAINT halt_reason_pkey PRIMARY KEY (reason)
);
GRANT SELECT ON TABLE lockstep.halt_reason TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE TABLE lockstep.idempotency_key (
    queue_id integer NOT NULL,
    key text NOT NULL,
    task_id bigint NOT NULL,
    run_id uuid NOT NULL,
    kafka_offset bigint NOT NULL,
    taken_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT idempotency_key_pkey PRIMARY KEY (queue_id, key),
    CONSTRAINT idempotency_key_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE
);
GRANT SELECT ON TABLE lockstep.idempotency_key TO lockstep_monitor, lockstep_operator;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.idempotency_key TO lockstep_executor;

CREATE TABLE lockstep.job (
    job_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    queue_id integer,
    spec jsonb NOT NULL,
    enabled boolean NOT NULL,
    overlap text NOT NULL,
    zombie_after interval NOT NULL,
    max_runtime interval,
    version integer DEFAULT 1 NOT NULL,
    file text,
    declared jsonb,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    changed_by text DEFAULT lockstep.actor() NOT NULL,
    max_expected interval,
    is_watch boolean DEFAULT false NOT NULL,
    CONSTRAINT job_overlap CHECK ((overlap = ANY (ARRAY['skip'::text, 'queue_one'::text, 'allow'::text, 'cancel'::text]))),
    CONSTRAINT job_queue CHECK ((is_watch = (queue_id IS NULL))),
    CONSTRAINT job_pkey PRIMARY KEY (job_id),
    CONSTRAINT job_name_key UNIQUE (name),
    CONSTRAINT job_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE
);
CREATE INDEX job_of_queue ON lockstep.job (queue_id);
GRANT SELECT ON TABLE lockstep.job TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE TABLE lockstep.job_alert (
    alert_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    job text NOT NULL,
    kind text NOT NULL,
    since timestamp with time zone,
    seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    opened_at timestamp with time zone,
    unseen integer DEFAULT 0 NOT NULL,
    text text,
    acknowledged_by text,
    acknowledged_at timestamp with time zone,
    note text,
    closed_at timestamp with time zone,
    ended text,
    CONSTRAINT job_alert_ended CHECK ((ended = ANY (ARRAY['recovered'::text, 'changed'::text, 'disabled'::text, 'paused'::text, 'silenced'::text, 'deleted'::text]))),
    CONSTRAINT job_alert_kind CHECK ((kind = ANY (ARRAY['missed'::text, 'stuck'::text, 'failed'::text, 'late'::text, 'never'::text, 'blocked'::text, 'absent'::text]))),
    CONSTRAINT job_alert_pkey PRIMARY KEY (alert_id)
);
CREATE INDEX job_alert_closed ON lockstep.job_alert (closed_at) WHERE (closed_at IS NOT NULL);
CREATE UNIQUE INDEX job_alert_open ON lockstep.job_alert (job, kind) WHERE (closed_at IS NULL);
CREATE TRIGGER alert_new AFTER INSERT ON lockstep.job_alert FOR EACH ROW WHEN ((new.opened_at IS NOT NULL)) EXECUTE FUNCTION lockstep.alert_logged();
CREATE TRIGGER alert_turned AFTER UPDATE ON lockstep.job_alert FOR EACH ROW WHEN (((((old.opened_at IS NULL) IS DISTINCT FROM (new.opened_at IS NULL)) OR ((old.closed_at IS NULL) IS DISTINCT FROM (new.closed_at IS NULL))) OR (old.acknowledged_at IS DISTINCT FROM new.acknowledged_at))) EXECUTE FUNCTION lockstep.alert_logged();

CREATE TABLE lockstep.job_ask (
    token uuid DEFAULT gen_random_uuid() NOT NULL,
    job_id integer NOT NULL,
    schedule_id integer,
    scheduled_for timestamp with time zone NOT NULL,
    run_id uuid NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    source text NOT NULL,
    params jsonb,
    asked_by text NOT NULL,
    fills integer,
    fills_overlap text,
    wake_at timestamp with time zone,
    failing_since timestamp with time zone,
    ask_no bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    CONSTRAINT job_ask_pkey PRIMARY KEY (token),
    CONSTRAINT job_ask_schedule_id_key UNIQUE (schedule_id),
    CONSTRAINT job_ask_fills_fkey FOREIGN KEY (fills) REFERENCES lockstep.schedule(schedule_id) ON DELETE CASCADE,
    CONSTRAINT job_ask_job_id_fkey FOREIGN KEY (job_id) REFERENCES lockstep.job(job_id) ON DELETE CASCADE,
    CONSTRAINT job_ask_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES lockstep.schedule(schedule_id) ON DELETE CASCADE
);
CREATE INDEX job_ask_of_job ON lockstep.job_ask (job_id);
CREATE INDEX job_ask_request ON lockstep.job_ask (wake_at) WHERE (wake_at IS NOT NULL);

CREATE TABLE lockstep.job_day_swept (
    job_id integer NOT NULL,
    day date NOT NULL,
    times bigint NOT NULL,
    fired bigint NOT NULL,
    completed bigint NOT NULL,
    failed bigint NOT NULL,
    skipped bigint NOT NULL,
    missed bigint NOT NULL,
    errors bigint NOT NULL,
    passed bigint NOT NULL,
    duration interval NOT NULL,
    longest interval,
    latest interval,
    CONSTRAINT job_day_swept_pkey PRIMARY KEY (job_id, day),
    CONSTRAINT job_day_swept_job_id_fkey FOREIGN KEY (job_id) REFERENCES lockstep.job(job_id) ON DELETE CASCADE
);

CREATE TABLE lockstep.job_end (
    job_end_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    schedule_id integer NOT NULL,
    scheduled_for timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    CONSTRAINT job_end_pkey PRIMARY KEY (job_end_id),
    CONSTRAINT job_end_schedule_id_scheduled_for_key UNIQUE (schedule_id, scheduled_for),
    CONSTRAINT job_end_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES lockstep.schedule(schedule_id) ON DELETE CASCADE
);

CREATE TABLE lockstep.job_event (
    job_event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    job text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    event text NOT NULL,
    source text,
    message text,
    run_id uuid,
    duration interval,
    rows bigint,
    CONSTRAINT job_event_event CHECK ((event = ANY (ARRAY['fired'::text, 'skipped'::text, 'missed'::text, 'completed'::text, 'error'::text, 'zombie'::text, 'changed'::text, 'alert'::text, 'recovered'::text, 'late'::text, 'stuck'::text]))),
    CONSTRAINT job_event_pkey PRIMARY KEY (job_event_id)
);
CREATE INDEX job_event_at ON lockstep.job_event (at, job_event_id);
CREATE INDEX job_event_of_job ON lockstep.job_event (job, at DESC, job_event_id DESC);
GRANT SELECT ON TABLE lockstep.job_event TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE TABLE lockstep.job_notice (
    notice_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    alert_id bigint NOT NULL,
    receiver text NOT NULL,
    notice text NOT NULL,
    number integer NOT NULL,
    made_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone NOT NULL,
    is_claimed boolean DEFAULT false NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    by_whom text,
    error text,
    delivered_at timestamp with time zone,
    CONSTRAINT job_notice_notice CHECK ((notice = ANY (ARRAY['opened'::text, 'reminder'::text, 'closed'::text]))),
    CONSTRAINT job_notice_pkey PRIMARY KEY (notice_id),
    CONSTRAINT job_notice_alert_id_receiver_notice_number_key UNIQUE (alert_id, receiver, notice, number),
    CONSTRAINT job_notice_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES lockstep.job_alert(alert_id) ON DELETE CASCADE
);
CREATE INDEX job_notice_due ON lockstep.job_notice (receiver, due_at) WHERE (delivered_at IS NULL);

CREATE TABLE lockstep.job_occurrence (
    occurrence_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    job_id integer NOT NULL,
    schedule_id integer,
    scheduled_for timestamp with time zone NOT NULL,
    decided_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    outcome text NOT NULL,
    source text NOT NULL,
    reason text,
    run_id uuid,
    missed_from timestamp with time zone,
    missed_count integer DEFAULT 0 NOT NULL,
    dispatcher text NOT NULL,
    status text,
    ended_at timestamp with time zone,
    retried boolean DEFAULT false NOT NULL,
    rows bigint,
    CONSTRAINT job_occurrence_outcome CHECK ((outcome = ANY (ARRAY['fired'::text, 'skipped'::text, 'missed'::text, 'error'::text]))),
    CONSTRAINT job_occurrence_pkey PRIMARY KEY (occurrence_id),
    CONSTRAINT job_occurrence_schedule_id_scheduled_for_key UNIQUE (schedule_id, scheduled_for),
    CONSTRAINT job_occurrence_job_id_fkey FOREIGN KEY (job_id) REFERENCES lockstep.job(job_id) ON DELETE CASCADE,
    CONSTRAINT job_occurrence_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES lockstep.schedule(schedule_id) ON DELETE SET NULL
);
CREATE INDEX job_occurrence_at ON lockstep.job_occurrence (decided_at, occurrence_id);
CREATE INDEX job_occurrence_good ON lockstep.job_occurrence (job_id, scheduled_for DESC) WHERE (status = 'Completed'::text);
CREATE INDEX job_occurrence_of_job ON lockstep.job_occurrence (job_id, scheduled_for DESC, occurrence_id DESC);
CREATE INDEX job_occurrence_of_run ON lockstep.job_occurrence (run_id) WHERE (run_id IS NOT NULL);
GRANT SELECT ON TABLE lockstep.job_occurrence TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE TABLE lockstep.job_silence (
    job_id integer NOT NULL,
    until timestamp with time zone NOT NULL,
    reason text NOT NULL,
    set_by text NOT NULL,
    set_at timestamp with time zone NOT NULL,
    CONSTRAINT job_silence_pkey PRIMARY KEY (job_id),
    CONSTRAINT job_silence_job_id_fkey FOREIGN KEY (job_id) REFERENCES lockstep.job(job_id) ON DELETE CASCADE
);

CREATE TABLE lockstep.job_sweeper (
    job_sweeper_id integer DEFAULT 1 NOT NULL,
    next_job_id integer DEFAULT 0 NOT NULL,
    CONSTRAINT job_sweeper_job_sweeper_id_check CHECK ((job_sweeper_id = 1)),
    CONSTRAINT job_sweeper_pkey PRIMARY KEY (job_sweeper_id)
);

CREATE TABLE lockstep.migration (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    applied_by text DEFAULT SESSION_USER NOT NULL,
    CONSTRAINT migration_pkey PRIMARY KEY (version)
);
GRANT SELECT ON TABLE lockstep.migration TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE TABLE lockstep.monitor (
    monitor_id integer DEFAULT 1 NOT NULL,
    looked_at timestamp with time zone,
    looked_by text,
    every interval,
    quiet_until timestamp with time zone,
    held text,
    CONSTRAINT monitor_monitor_id_check CHECK ((monitor_id = 1)),
    CONSTRAINT monitor_pkey PRIMARY KEY (monitor_id)
);

CREATE TABLE lockstep.monitor_process (
    who text NOT NULL,
    host text NOT NULL,
    login text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    looked_at timestamp with time zone NOT NULL,
    every interval NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT monitor_process_pkey PRIMARY KEY (who)
);

CREATE TABLE lockstep.monitor_receiver (
    who text NOT NULL,
    receiver text NOT NULL,
    jobs text[] NOT NULL,
    kinds text[],
    hold interval NOT NULL,
    CONSTRAINT monitor_receiver_pkey PRIMARY KEY (who, receiver),
    CONSTRAINT monitor_receiver_who_fkey FOREIGN KEY (who) REFERENCES lockstep.monitor_process(who) ON DELETE CASCADE
);

CREATE TABLE lockstep.outbox (
    outbox_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    queue_id integer NOT NULL,
    kind text NOT NULL,
    rejected_id bigint,
    key bytea,
    value bytea,
    header_names text[],
    header_values bytea[],
    uid uuid DEFAULT gen_random_uuid() NOT NULL,
    relay_seq bigint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    event text,
    run_no bigint,
    phase_id bigint,
    task_id bigint,
    job text,
    actor text,
    detail text,
    CONSTRAINT outbox_kind_check CHECK ((kind ~ '^[a-z]+$'::text)),
    CONSTRAINT outbox_pkey PRIMARY KEY (outbox_id),
    CONSTRAINT outbox_queue_id_kind_relay_seq_key UNIQUE (queue_id, kind, relay_seq),
    CONSTRAINT outbox_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE,
    CONSTRAINT outbox_rejected_id_fkey FOREIGN KEY (rejected_id) REFERENCES lockstep.rejected_message(rejected_id) ON DELETE CASCADE
)
WITH (autovacuum_vacuum_scale_factor='0.02');
CREATE INDEX outbox_new ON lockstep.outbox (queue_id, kind, outbox_id) WHERE (relay_seq IS NULL);
CREATE INDEX outbox_rejected ON lockstep.outbox (rejected_id) WHERE (rejected_id IS NOT NULL);
CREATE INDEX outbox_run ON lockstep.outbox (run_no) WHERE (run_no IS NOT NULL);
GRANT SELECT ON TABLE lockstep.outbox TO lockstep_monitor, lockstep_operator;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.outbox TO lockstep_executor;

CREATE TABLE lockstep.phase (
    phase_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    run_no bigint NOT NULL,
    queue_id integer NOT NULL,
    "order" bigint NOT NULL,
    previous_order bigint NOT NULL,
    previous_phase_id bigint,
    claimed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    opened_at timestamp with time zone,
    done_at timestamp with time zone,
    after_runs boolean DEFAULT false NOT NULL,
    external boolean DEFAULT false NOT NULL,
    conditional boolean DEFAULT false NOT NULL,
    events boolean DEFAULT false NOT NULL,
    CONSTRAINT phase_pkey PRIMARY KEY (phase_id),
    CONSTRAINT phase_run_no_order_key UNIQUE (run_no, "order"),
    CONSTRAINT phase_run_no_fkey FOREIGN KEY (run_no) REFERENCES lockstep.run(run_no) ON DELETE CASCADE
)
WITH (fillfactor='50');
ALTER TABLE ONLY lockstep.phase ALTER COLUMN done_at SET STATISTICS 0;
CREATE INDEX phase_left ON lockstep.phase (((run_no + 0)), (("order" + 0))) WHERE (done_at IS NULL);
CREATE INDEX phase_undone ON lockstep.phase (queue_id, run_no, "order") WHERE (done_at IS NULL);
CREATE INDEX phase_unowned ON lockstep.phase (queue_id, run_no, "order") WHERE ((done_at IS NULL) AND (external OR conditional));
CREATE TRIGGER done_to_outbox AFTER UPDATE OF done_at ON lockstep.phase FOR EACH ROW WHEN ((new.events AND (old.done_at IS NULL) AND (new.done_at IS NOT NULL) AND (new.opened_at IS NOT NULL))) EXECUTE FUNCTION lockstep.event_of_phase('phase_done');
CREATE TRIGGER opened_to_outbox AFTER INSERT ON lockstep.phase FOR EACH ROW WHEN ((new.events AND (new.opened_at IS NOT NULL))) EXECUTE FUNCTION lockstep.event_of_phase('phase_opened');
CREATE TRIGGER reopened_to_outbox AFTER UPDATE OF opened_at ON lockstep.phase FOR EACH ROW WHEN ((new.events AND (old.opened_at IS NULL) AND (new.opened_at IS NOT NULL))) EXECUTE FUNCTION lockstep.event_of_phase('phase_opened');
GRANT SELECT ON TABLE lockstep.phase TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.phase TO lockstep_executor;

CREATE TABLE lockstep.queue (
    queue_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    topic text NOT NULL,
    partition integer DEFAULT 0 NOT NULL,
    next_offset bigint DEFAULT 0 NOT NULL,
    max_readers integer DEFAULT 5 NOT NULL,
    lookahead integer DEFAULT 8 NOT NULL,
    on_failure text DEFAULT 'stop'::text NOT NULL,
    runs text DEFAULT 'serial'::text NOT NULL,
    max_attempts integer,
    retry_intervals double precision[] DEFAULT '{1}'::double precision[] NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    paused_by text,
    paused_at timestamp with time zone,
    cluster_id text,
    last_offset bigint,
    last_timestamp bigint,
    last_digest bytea,
    halted_reason text,
    halted_detail text,
    halted_at timestamp with time zone,
    last_run_no bigint,
    implicit_run_no bigint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    max_lost integer DEFAULT 5 NOT NULL,
    dead_letters boolean DEFAULT true NOT NULL,
    partitions integer,
    mark uuid,
    marked_at timestamp with time zone,
    halt_no integer DEFAULT 0 NOT NULL,
    blocked_offset bigint,
    blocked_at timestamp with time zone,
    server_system text,
    server_database bigint,
    server_timeline bigint,
    external_lease interval DEFAULT '00:05:00'::interval NOT NULL,
    default_attempts integer,
    retry_on text[] DEFAULT '{all,-0A,-28,-3D,-3F,-42}'::text[] NOT NULL,
    events boolean DEFAULT false NOT NULL,
    keep_runs integer,
    keep_days integer,
    keep_failed_days integer,
    keep_set_by text,
    epoch integer DEFAULT 0 NOT NULL,
    unknown_at bigint,
    CONSTRAINT queue_pkey PRIMARY KEY (queue_id),
    CONSTRAINT queue_name_key UNIQUE (name)
)
WITH (fillfactor='10');
CREATE TRIGGER guard_queue BEFORE INSERT OR UPDATE OF name, partition, max_readers, lookahead, on_failure, runs, max_attempts, default_attempts, max_lost, external_lease, retry_on, keep_runs, keep_days, keep_failed_days ON lockstep.queue FOR EACH ROW EXECUTE FUNCTION lockstep.guard_queue();
GRANT SELECT ON TABLE lockstep.queue TO lockstep_monitor, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.queue TO lockstep_executor, lockstep_operator;

CREATE TABLE lockstep.rejected_message (
    rejected_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    queue_id integer NOT NULL,
    kafka_offset bigint NOT NULL,
    run_no bigint,
    seq bigint,
    reason text NOT NULL,
    detail text NOT NULL,
    raw bytea,
    key bytea,
    rejected_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    header_names text[],
    header_values bytea[],
    dead_lettered_at timestamp with time zone,
    redrive_run uuid,
    redriven_at timestamp with time zone,
    redriven_by text,
    redrive_noted uuid,
    redrive_noted_by text,
    epoch integer DEFAULT 0 NOT NULL,
    CONSTRAINT rejected_message_pkey PRIMARY KEY (rejected_id),
    CONSTRAINT rejected_message_queue_id_epoch_kafka_offset_key UNIQUE (queue_id, epoch, kafka_offset),
    CONSTRAINT rejected_message_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE
);
CREATE INDEX rejected_at ON lockstep.rejected_message (queue_id, rejected_at);
CREATE INDEX rejected_loose ON lockstep.rejected_message (queue_id, epoch, kafka_offset) WHERE (run_no IS NULL);
CREATE INDEX rejected_of_run ON lockstep.rejected_message (run_no, kafka_offset) WHERE (run_no IS NOT NULL);
CREATE INDEX rejected_redrive ON lockstep.rejected_message (redrive_noted) WHERE (redrive_noted IS NOT NULL);
CREATE INDEX rejected_redriven ON lockstep.rejected_message (redrive_run) WHERE (redrive_run IS NOT NULL);
CREATE TRIGGER to_outbox AFTER INSERT ON lockstep.rejected_message REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION lockstep.rejected_to_outbox();
GRANT SELECT ON TABLE lockstep.rejected_message TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.rejected_message TO lockstep_executor;

CREATE TABLE lockstep.relay (
    queue_id integer NOT NULL,
    kind text NOT NULL,
    last_seq bigint DEFAULT 0 NOT NULL,
    sent_seq bigint DEFAULT 0 NOT NULL,
    next_offset bigint DEFAULT 0 NOT NULL,
    trouble text,
    trouble_since timestamp with time zone,
    timeline bigint,
    undone_until bigint,
    CONSTRAINT relay_pkey PRIMARY KEY (queue_id, kind),
    CONSTRAINT relay_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE
)
WITH (fillfactor='50');
GRANT SELECT ON TABLE lockstep.relay TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.relay TO lockstep_executor;

CREATE TABLE lockstep.replay (
    replay_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    queue_id integer NOT NULL,
    mode text NOT NULL,
    from_offset bigint NOT NULL,
    to_offset bigint NOT NULL,
    run_id uuid,
    "order" bigint,
    cursor bigint NOT NULL,
    implicit_run_no bigint,
    last_run_no bigint,
    made bigint DEFAULT 0 NOT NULL,
    reopened bigint DEFAULT 0 NOT NULL,
    state text DEFAULT 'Running'::text NOT NULL,
    reason text NOT NULL,
    started_by text DEFAULT lockstep.actor() NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    epoch integer DEFAULT 0 NOT NULL,
    CONSTRAINT replay_check CHECK ((to_offset >= from_offset)),
    CONSTRAINT replay_from_offset_check CHECK ((from_offset >= 0)),
    CONSTRAINT replay_mode_check CHECK ((mode = ANY (ARRAY['missing'::text, 'failed'::text, 'all'::text]))),
    CONSTRAINT replay_state_check CHECK ((state = ANY (ARRAY['Running'::text, 'Completed'::text, 'Abandoned'::text]))),
    CONSTRAINT replay_pkey PRIMARY KEY (replay_id),
    CONSTRAINT replay_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX replay_open ON lockstep.replay (queue_id) WHERE (ended_at IS NULL);
GRANT SELECT ON TABLE lockstep.replay TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE TABLE lockstep.retention (
    queue_id integer NOT NULL,
    swept_at timestamp with time zone,
    detail text,
    rejected int8range,
    epoch integer DEFAULT 0 NOT NULL,
    CONSTRAINT retention_pkey PRIMARY KEY (queue_id),
    CONSTRAINT retention_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE
);
GRANT SELECT ON TABLE lockstep.retention TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.retention TO lockstep_executor;

CREATE TABLE lockstep.run (
    run_no bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    run_id uuid NOT NULL,
    queue_id integer NOT NULL,
    name text,
    implicit boolean DEFAULT false NOT NULL,
    on_failure text NOT NULL,
    status text NOT NULL,
    after_run_no bigint,
    next_seq bigint DEFAULT 0 NOT NULL,
    last_phase_id bigint,
    last_order bigint DEFAULT 0 NOT NULL,
    last_previous_order bigint DEFAULT 0 NOT NULL,
    tasks bigint DEFAULT 0 NOT NULL,
    phases bigint DEFAULT 0 NOT NULL,
    rejected bigint DEFAULT 0 NOT NULL,
    first_offset bigint,
    end_offset bigint,
    end_tasks bigint,
    end_phases bigint,
    aborted boolean DEFAULT false NOT NULL,
    stop_after bigint,
    error text,
    published_by text,
    published_at timestamp with time zone,
    publish_digest text,
    publish_acked_seq bigint,
    publish_acked_offset bigint,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    replay_id integer,
    reopened_at timestamp with time zone,
    stop_lifted bigint,
    publish_mode text,
    publish_from text,
    publish_source text,
    publish_format text,
    publish_bytes bigint,
    publish_chain text,
    publish_error text,
    paused_by text,
    paused_at timestamp with time zone,
    failure_at timestamp with time zone,
    cancelled_by text,
    cancelled_at timestamp with time zone,
    stop_kept bigint,
    events boolean DEFAULT false NOT NULL,
    swept boolean DEFAULT false NOT NULL,
    parked_order bigint,
    closed_by text,
    epoch integer DEFAULT 0 NOT NULL,
    job_id integer,
    started_by text,
    CONSTRAINT run_pkey PRIMARY KEY (run_no),
    CONSTRAINT run_queue_id_run_id_key UNIQUE (queue_id, run_id),
    CONSTRAINT run_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE
)
WITH (fillfactor='50');
CREATE INDEX run_active ON lockstep.run (queue_id, run_no) WHERE (ended_at IS NULL);
CREATE INDEX run_by_id ON lockstep.run (run_id);
CREATE INDEX run_log ON lockstep.run (queue_id, first_offset) WHERE (first_offset IS NOT NULL);
CREATE INDEX run_newest ON lockstep.run (((queue_id)::bigint), run_no);
CREATE INDEX run_of_job ON lockstep.run (job_id, run_no) WHERE ((job_id IS NOT NULL) AND (ended_at IS NULL));
CREATE INDEX run_parked ON lockstep.run (queue_id) WHERE ((parked_order IS NOT NULL) AND (ended_at IS NULL));
CREATE INDEX run_replay ON lockstep.run (replay_id) WHERE (replay_id IS NOT NULL);
CREATE INDEX run_unswept ON lockstep.run (((queue_id)::bigint), run_no) WHERE ((ended_at IS NOT NULL) AND (NOT swept));
CREATE TRIGGER guard_run BEFORE INSERT OR UPDATE OF status, on_failure, publish_mode, publish_from, publish_format ON lockstep.run FOR EACH ROW EXECUTE FUNCTION lockstep.guard_run();
CREATE TRIGGER job_run_ended AFTER UPDATE OF ended_at ON lockstep.run FOR EACH ROW WHEN (((new.job_id IS NOT NULL) AND (old.ended_at IS NULL) AND (new.ended_at IS NOT NULL))) EXECUTE FUNCTION lockstep.job_run_ended();
GRANT SELECT ON TABLE lockstep.run TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.run TO lockstep_executor;

CREATE TABLE lockstep.run_count (
    queue_id integer NOT NULL,
    status text NOT NULL,
    runs bigint NOT NULL,
    CONSTRAINT run_count_pkey PRIMARY KEY (queue_id, status),
    CONSTRAINT run_count_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE
)
WITH (fillfactor='10');
GRANT SELECT ON TABLE lockstep.run_count TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, UPDATE ON TABLE lockstep.run_count TO lockstep_executor;

CREATE TABLE lockstep.run_summary (
    run_no bigint NOT NULL,
    tasks bigint DEFAULT 0 NOT NULL,
    completed bigint DEFAULT 0 NOT NULL,
    failed bigint DEFAULT 0 NOT NULL,
    cancelled bigint DEFAULT 0 NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    busy interval DEFAULT '00:00:00'::interval NOT NULL,
    begun_at timestamp with time zone,
    swept_at timestamp with time zone,
    upto_order bigint,
    upto_offset bigint,
    held text,
    look_at timestamp with time zone,
    CONSTRAINT run_summary_pkey PRIMARY KEY (run_no),
    CONSTRAINT run_summary_run_no_fkey FOREIGN KEY (run_no) REFERENCES lockstep.run(run_no) ON DELETE CASCADE
);
CREATE INDEX run_summary_unfinished ON lockstep.run_summary (run_no) WHERE (swept_at IS NULL);
GRANT SELECT ON TABLE lockstep.run_summary TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.run_summary TO lockstep_executor;

CREATE TABLE lockstep.schedule (
    schedule_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    schedule_uid uuid DEFAULT gen_random_uuid() NOT NULL,
    job_id integer NOT NULL,
    name text NOT NULL,
    spec jsonb NOT NULL,
    rule lockstep.rule,
    after_job integer,
    after_end text,
    rows_rule lockstep.rows_rule,
    is_active boolean NOT NULL,
    misfire text NOT NULL,
    catchup_window interval NOT NULL,
    jitter interval NOT NULL,
    grace interval,
    next_at timestamp with time zone,
    wake_at timestamp with time zone,
    due_at timestamp with time zone,
    queued_for timestamp with time zone,
    queued_missed_from timestamp with time zone,
    queued_missed integer DEFAULT 0 NOT NULL,
    look lockstep.rows_look,
    fired_at timestamp with time zone,
    failing_since timestamp with time zone,
    failing_why text,
    uses_sql boolean DEFAULT false NOT NULL,
    asked_until timestamp with time zone,
    CONSTRAINT schedule_pkey PRIMARY KEY (schedule_id),
    CONSTRAINT schedule_job_id_name_key UNIQUE (job_id, name),
    CONSTRAINT schedule_after_job_fkey FOREIGN KEY (after_job) REFERENCES lockstep.job(job_id) ON DELETE CASCADE,
    CONSTRAINT schedule_job_id_fkey FOREIGN KEY (job_id) REFERENCES lockstep.job(job_id) ON DELETE CASCADE
);
CREATE INDEX schedule_after ON lockstep.schedule (after_job) WHERE (after_job IS NOT NULL);
CREATE INDEX schedule_asked ON lockstep.schedule (asked_until) WHERE (asked_until IS NOT NULL);
CREATE INDEX schedule_due ON lockstep.schedule (wake_at, schedule_id) WHERE (is_active AND (wake_at IS NOT NULL));
CREATE INDEX schedule_rows ON lockstep.schedule (((rows_rule).relation)) WHERE (((rows_rule).relation IS NOT NULL) AND is_active);
CREATE TRIGGER guard_schedule BEFORE INSERT OR UPDATE OF rule, after_job, rows_rule, after_end, misfire ON lockstep.schedule FOR EACH ROW EXECUTE FUNCTION lockstep.guard_schedule();
GRANT SELECT (schedule_id, job_id, name, spec, rule, after_job, after_end, rows_rule, is_active, misfire, catchup_window, jitter, grace, next_at, wake_at, due_at, queued_for, queued_missed_from, queued_missed, look, fired_at, failing_since, failing_why, uses_sql, asked_until) ON TABLE lockstep.schedule TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE TABLE lockstep.slot (
    slot_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    queue_id integer NOT NULL,
    slot_no integer NOT NULL,
    executor_no integer,
    pid integer,
    backend_start timestamp with time zone,
    taken_at timestamp with time zone,
    CONSTRAINT slot_pkey PRIMARY KEY (slot_id),
    CONSTRAINT slot_queue_id_slot_no_key UNIQUE (queue_id, slot_no),
    CONSTRAINT slot_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE
)
WITH (fillfactor='50');
GRANT SELECT ON TABLE lockstep.slot TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.slot TO lockstep_executor;

CREATE TABLE lockstep.slot_waiter (
    queue_id integer NOT NULL,
    executor_no integer NOT NULL,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT slot_waiter_pkey PRIMARY KEY (queue_id, executor_no),
    CONSTRAINT slot_waiter_executor_no_fkey FOREIGN KEY (executor_no) REFERENCES lockstep.executor(executor_no) ON DELETE CASCADE,
    CONSTRAINT slot_waiter_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES lockstep.queue(queue_id) ON DELETE CASCADE
);
GRANT SELECT ON TABLE lockstep.slot_waiter TO lockstep_monitor, lockstep_operator;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.slot_waiter TO lockstep_executor;

CREATE TABLE lockstep.status_transition (
    from_status lockstep.status NOT NULL,
    to_status lockstep.status NOT NULL,
    why text NOT NULL,
    CONSTRAINT status_transition_pkey PRIMARY KEY (from_status, to_status),
    CONSTRAINT status_transition_from_status_fkey FOREIGN KEY (from_status) REFERENCES lockstep.task_status(status),
    CONSTRAINT status_transition_to_status_fkey FOREIGN KEY (to_status) REFERENCES lockstep.task_status(status)
);
GRANT SELECT ON TABLE lockstep.status_transition TO lockstep_executor, lockstep_monitor, lockstep_operator;

CREATE TABLE lockstep.task (
    task_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    phase_id bigint NOT NULL,
    run_no bigint NOT NULL,
    queue_id integer NOT NULL,
    status lockstep.status DEFAULT 'Pending'::lockstep.status NOT NULL,
    type text DEFAULT 'sql'::text NOT NULL,
    "order" bigint NOT NULL,
    seq bigint,
    kafka_offset bigint NOT NULL,
    name text,
    payload text NOT NULL,
    traceparent text,
    executor_no integer,
    token uuid,
    attempt_num integer DEFAULT 0 NOT NULL,
    max_attempts integer DEFAULT 1 NOT NULL,
    lost_num integer DEFAULT 0 NOT NULL,
    step text,
    response text,
    error text,
    scheduled_for timestamp with time zone,
    started_at timestamp with time zone,
    duration interval,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    cancelled_by text,
    worker text,
    lease_until timestamp with time zone,
    condition text,
    key text,
    skipped text,
    needs text[],
    backend_pid integer,
    doubted boolean,
    first_attempt integer,
    rows bigint,
    notices text,
    CONSTRAINT task_pkey PRIMARY KEY (task_id)
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.05');
ALTER TABLE ONLY lockstep.task ALTER COLUMN phase_id SET (n_distinct=-0.01);
CREATE INDEX task_leased ON lockstep.task (((phase_id + 0)), lease_until) WHERE (lease_until IS NOT NULL);
CREATE INDEX task_offered ON lockstep.task (((phase_id + 0)), kafka_offset) WHERE ((type = 'external'::text) AND (worker IS NULL));
CREATE INDEX task_phase ON lockstep.task (phase_id, kafka_offset);
CREATE INDEX task_troubled ON lockstep.task (phase_id) WHERE ((lost_num > 0) OR (cancelled_by IS NOT NULL));
CREATE INDEX task_unowned ON lockstep.task (((phase_id + 0)), kafka_offset) WHERE ((executor_no IS NULL) AND (type <> 'external'::text));
CREATE TRIGGER guard_message BEFORE INSERT OR UPDATE OF type, condition ON lockstep.task FOR EACH ROW WHEN (((new.type <> 'sql'::text) OR (new.condition IS NOT NULL))) EXECUTE FUNCTION lockstep.guard_message();
CREATE TRIGGER guard_status BEFORE UPDATE OF status ON lockstep.task FOR EACH ROW WHEN (((new.status <> 'Completed'::lockstep.status) OR (old.status > 'Error'::lockstep.status))) EXECUTE FUNCTION lockstep.guard_transition();
GRANT SELECT (task_id, phase_id, run_no, queue_id, status, type, "order", seq, kafka_offset, name, payload, traceparent, executor_no, attempt_num, max_attempts, lost_num, step, response, error, scheduled_for, started_at, duration, updated_at, cancelled_by, worker, lease_until, condition, key, skipped, needs, backend_pid, rows, notices) ON TABLE lockstep.task TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.task TO lockstep_executor;

CREATE TABLE lockstep.task_attempt (
    task_id bigint NOT NULL,
    attempt integer NOT NULL,
    status lockstep.status NOT NULL,
    executor_no integer,
    started_at timestamp with time zone,
    ended_at timestamp with time zone NOT NULL,
    sqlstate text,
    error text,
    detail text,
    hint text,
    context text,
    worker text,
    rows bigint,
    notices text,
    CONSTRAINT task_attempt_pkey PRIMARY KEY (task_id, attempt),
    CONSTRAINT task_attempt_status_fkey FOREIGN KEY (status) REFERENCES lockstep.task_status(status)
);
GRANT SELECT ON TABLE lockstep.task_attempt TO lockstep_monitor, lockstep_operator, lockstep_producer;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.task_attempt TO lockstep_executor;

CREATE TABLE lockstep.task_status (
    status lockstep.status NOT NULL,
    is_processable boolean NOT NULL,
    is_finished boolean NOT NULL,
    is_editable boolean NOT NULL,
    description text NOT NULL,
    CONSTRAINT task_status_pkey PRIMARY KEY (status)
);
GRANT SELECT ON TABLE lockstep.task_status TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE TABLE lockstep.task_type (
    type text NOT NULL,
    description text NOT NULL,
    CONSTRAINT task_type_pkey PRIMARY KEY (type)
);
GRANT SELECT ON TABLE lockstep.task_type TO lockstep_executor, lockstep_monitor, lockstep_operator;

CREATE TABLE lockstep.wait_reason (
    reason text NOT NULL,
    meaning text NOT NULL,
    helps text NOT NULL,
    rank integer DEFAULT 30 NOT NULL,
    CONSTRAINT wait_reason_pkey PRIMARY KEY (reason)
);
GRANT SELECT ON TABLE lockstep.wait_reason TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE TABLE lockstep.worker_report (
    report_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    task_id bigint NOT NULL,
    CONSTRAINT worker_report_pkey PRIMARY KEY (report_id)
);
CREATE CONSTRAINT TRIGGER settle AFTER INSERT ON lockstep.worker_report DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lockstep.worker_settle();
GRANT SELECT ON TABLE lockstep.worker_report TO lockstep_monitor, lockstep_operator;
GRANT SELECT, INSERT, DELETE, UPDATE ON TABLE lockstep.worker_report TO lockstep_executor;

CREATE TABLE lockstep.zone (
    zone text NOT NULL,
    since date NOT NULL,
    print text NOT NULL,
    CONSTRAINT zone_pkey PRIMARY KEY (zone)
);

CREATE VIEW lockstep.alert AS SELECT
    NULL::bigint AS alert_id,
    NULL::text AS job,
    NULL::text AS kind,
    NULL::timestamp with time zone AS since,
    NULL::timestamp with time zone AS opened_at,
    NULL::timestamp with time zone AS last_seen_at,
    NULL::text AS text,
    NULL::text AS acknowledged_by,
    NULL::timestamp with time zone AS acknowledged_at,
    NULL::text AS note,
    NULL::timestamp with time zone AS closed_at,
    NULL::text AS ended;
GRANT SELECT ON TABLE lockstep.alert TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.alert_notice AS SELECT
    NULL::bigint AS alert_id,
    NULL::text AS receiver,
    NULL::text AS notice,
    NULL::integer AS number,
    NULL::timestamp with time zone AS made_at,
    NULL::integer AS attempts,
    NULL::timestamp with time zone AS delivered_at,
    NULL::timestamp with time zone AS next_attempt_at,
    NULL::text AS error,
    NULL::text AS sent_by,
    NULL::bigint AS notice_id;
GRANT SELECT ON TABLE lockstep.alert_notice TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.alert_receiver AS SELECT
    NULL::text AS receiver,
    NULL::boolean AS is_served,
    NULL::bigint AS undelivered,
    NULL::timestamp with time zone AS undelivered_since,
    NULL::text AS error;
GRANT SELECT ON TABLE lockstep.alert_receiver TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.execution_log AS SELECT
    NULL::text AS queue,
    NULL::uuid AS run_id,
    NULL::bigint AS "order",
    NULL::bigint AS previous_order,
    NULL::bigint AS seq,
    NULL::bigint AS task_id,
    NULL::integer AS attempt,
    NULL::text AS type,
    NULL::text AS sql,
    NULL::lockstep.status AS status,
    NULL::timestamp with time zone AS started_at,
    NULL::timestamp with time zone AS ended_at,
    NULL::interval AS duration,
    NULL::uuid AS executor_id,
    NULL::text AS error,
    NULL::text AS sqlstate,
    NULL::text AS detail,
    NULL::text AS context,
    NULL::text AS name,
    NULL::text AS worker,
    NULL::bigint AS rows,
    NULL::text AS notices;
GRANT SELECT ON TABLE lockstep.execution_log TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.job_day AS SELECT
    NULL::text AS job,
    NULL::date AS day,
    NULL::bigint AS times,
    NULL::bigint AS fired,
    NULL::bigint AS completed,
    NULL::bigint AS failed,
    NULL::bigint AS skipped,
    NULL::bigint AS missed,
    NULL::bigint AS errors,
    NULL::bigint AS passed,
    NULL::interval AS duration,
    NULL::interval AS longest,
    NULL::interval AS latest;
GRANT SELECT ON TABLE lockstep.job_day TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.job_health AS SELECT
    NULL::text AS job,
    NULL::text AS queue,
    NULL::text AS state,
    NULL::boolean AS is_problem,
    NULL::timestamp with time zone AS since,
    NULL::text AS detail,
    NULL::timestamp with time zone AS next_at,
    NULL::uuid AS open_run,
    NULL::uuid AS last_run,
    NULL::text AS last_status,
    NULL::text AS last_state,
    NULL::timestamp with time zone AS last_since,
    NULL::text AS last_detail;
GRANT SELECT ON TABLE lockstep.job_health TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.job_log AS SELECT
    NULL::text AS job,
    NULL::timestamp with time zone AS at,
    NULL::text AS event,
    NULL::text AS source,
    NULL::text AS message,
    NULL::uuid AS run_id,
    NULL::interval AS duration,
    NULL::bigint AS job_event_id,
    NULL::bigint AS rows;
GRANT SELECT ON TABLE lockstep.job_log TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.job_status AS SELECT
    NULL::text AS job,
    NULL::text AS queue,
    NULL::text AS mode,
    NULL::boolean AS enabled,
    NULL::bigint AS schedules,
    NULL::timestamp with time zone AS next_at,
    NULL::timestamp with time zone AS last_scheduled,
    NULL::text AS last_outcome,
    NULL::text AS last_status,
    NULL::uuid AS open_run,
    NULL::text AS overlap,
    NULL::integer AS version,
    NULL::text AS file,
    NULL::timestamp with time zone AS changed_at,
    NULL::text AS changed_by,
    NULL::boolean AS drifted,
    NULL::text AS description;
GRANT SELECT ON TABLE lockstep.job_status TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.monitor_status AS SELECT
    NULL::text AS monitor,
    NULL::text AS login,
    NULL::timestamp with time zone AS started_at,
    NULL::timestamp with time zone AS looked_at,
    NULL::interval AS every,
    NULL::timestamp with time zone AS ended_at,
    NULL::boolean AS is_alive,
    NULL::text[] AS receivers;
GRANT SELECT ON TABLE lockstep.monitor_status TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.occurrence AS SELECT
    NULL::text AS job,
    NULL::text AS schedule,
    NULL::timestamp with time zone AS scheduled_for,
    NULL::timestamp with time zone AS fired_at,
    NULL::interval AS lateness,
    NULL::text AS outcome,
    NULL::text AS source,
    NULL::text AS reason,
    NULL::uuid AS run_id,
    NULL::text AS status,
    NULL::timestamp with time zone AS ended_at,
    NULL::interval AS duration,
    NULL::timestamp with time zone AS missed_from,
    NULL::integer AS missed_count,
    NULL::text AS dispatcher,
    NULL::bigint AS occurrence_id,
    NULL::bigint AS rows,
    NULL::integer AS attempts;
GRANT SELECT ON TABLE lockstep.occurrence TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.outbox_record AS SELECT
    NULL::bigint AS outbox_id,
    NULL::integer AS queue_id,
    NULL::text AS kind,
    NULL::bigint AS relay_seq,
    NULL::uuid AS uid,
    NULL::text AS topic,
    NULL::bytea AS key,
    NULL::bytea AS value,
    NULL::text[] AS header_names,
    NULL::bytea[] AS header_values;
GRANT SELECT ON TABLE lockstep.outbox_record TO lockstep_executor, lockstep_monitor, lockstep_operator;

CREATE VIEW lockstep.phase_status AS SELECT
    NULL::uuid AS run_id,
    NULL::bigint AS "order",
    NULL::bigint AS previous_order,
    NULL::bigint AS tasks,
    NULL::bigint AS finished,
    NULL::timestamp with time zone AS opened_at,
    NULL::timestamp with time zone AS done_at,
    NULL::text AS queue,
    NULL::bigint AS processing,
    NULL::bigint AS completed,
    NULL::bigint AS failed,
    NULL::bigint AS cancelled,
    NULL::bigint AS error,
    NULL::timestamp with time zone AS first_start,
    NULL::timestamp with time zone AS last_end,
    NULL::bigint AS phase_id,
    NULL::bigint AS run_no;
GRANT SELECT ON TABLE lockstep.phase_status TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.reader_status AS SELECT
    NULL::text AS queue,
    NULL::integer AS max_readers,
    NULL::bigint AS in_use,
    NULL::uuid AS executor_id,
    NULL::text AS host,
    NULL::integer AS pid,
    NULL::integer AS readers,
    NULL::timestamp with time zone AS heartbeat_at,
    NULL::integer AS executor_no,
    NULL::timestamp with time zone AS started_at,
    NULL::text AS version,
    NULL::bigint AS topic_end,
    NULL::bigint AS memory_bytes;
GRANT SELECT ON TABLE lockstep.reader_status TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.rejected AS SELECT
    NULL::text AS queue,
    NULL::bigint AS "offset",
    NULL::text AS reason,
    NULL::text AS detail,
    NULL::bytea AS raw,
    NULL::timestamp with time zone AS rejected_at,
    NULL::bigint AS rejected_id,
    NULL::uuid AS run_id,
    NULL::bigint AS seq,
    NULL::bytea AS key,
    NULL::text[] AS header_names,
    NULL::bytea[] AS header_values,
    NULL::timestamp with time zone AS dead_lettered_at,
    NULL::uuid AS redrive_run,
    NULL::timestamp with time zone AS redriven_at,
    NULL::text AS redriven_by,
    NULL::uuid AS redrive_noted;
GRANT SELECT ON TABLE lockstep.rejected TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;

CREATE VIEW lockstep.run_status AS SELECT
    NULL::text AS queue,
    NULL::uuid AS run_id,
    NULL::text AS name,
    NULL::text AS status,
    NULL::bigint AS tasks,
    NULL::bigint AS pending,
    NULL::bigint AS processing,
    NULL::bigint AS error,
    NULL::bigint AS completed,
    NULL::bigint AS failed,
    NULL::bigint AS cancelled,
    NULL::bigint AS "order",
    NULL::timestamp with time zone AS published_at,
    NULL::timestamp with time zone AS started_at,
    NULL::timestamp with time zone AS ended_at,
    NULL::bigint AS phases,
    NULL::bigint AS rejected,
    NULL::text AS on_failure,
    NULL::boolean AS implicit,
    NULL::text AS reason,
    NULL::bigint AS run_no,
    NULL::bigint AS end_tasks,
    NULL::bigint AS end_phases,
    NULL::timestamp with time zone AS swept_at,
    NULL::boolean AS swept,
    NULL::bigint AS published_tasks,
    NULL::text AS started_by;
GRANT SELECT ON TABLE lockstep.run_status TO lockstep_executor, lockstep_monitor, lockstep_operator, lockstep_producer;
