-- A task: one message. The row is inserted in the transaction that moves the cursor past it and finished in the
-- transaction of its effect. No index holds a column that an attempt changes, so that those updates stay HOT; no foreign
-- key, because the claim is the only one who inserts and has the run and the phase in its hands.
CREATE TABLE lockstep.task (
    task_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    phase_id bigint NOT NULL,
    run_no bigint NOT NULL,
    queue_id int NOT NULL,
    status lockstep.status NOT NULL DEFAULT 'Pending',
    type text NOT NULL DEFAULT 'sql',
    "order" bigint NOT NULL,
    seq bigint,
    kafka_offset bigint NOT NULL,
    name text,
    payload text NOT NULL,          -- the record's value as it came
    traceparent text,
    executor_no int,                -- the owner of the current attempt, or of the last one
    token uuid,                     -- the fence of the current attempt; NULL: nobody may finish it
    attempt_num int NOT NULL DEFAULT 0,
    max_attempts int NOT NULL DEFAULT 1,
    lost_num int NOT NULL DEFAULT 0, -- attempts that were lost, not failed
    step text,
    response text,
    error text,
    scheduled_for timestamptz,      -- not before
    started_at timestamptz,
    duration interval,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

CREATE INDEX task_phase ON lockstep.task (phase_id, kafka_offset);

-- Attempts that did not end a task well. A successful attempt is the task row itself.
CREATE TABLE lockstep.task_attempt (
    task_id bigint NOT NULL,
    attempt int NOT NULL,
    status lockstep.status NOT NULL, -- Error: another is due; Failed: the last; Pending: it was lost
    executor_no int,
    started_at timestamptz,
    ended_at timestamptz NOT NULL,
    sqlstate text,
    error text,
    detail text,
    hint text,
    context text,
    PRIMARY KEY (task_id, attempt)
);

-- The guard: the transitions of lockstep.status_transition and no other, whoever tries. The WHEN clause lets the hot path by
-- (Pending, Processing, Error -> Completed, all legal), and it is short, because its text is parsed again in every statement:
-- a clause that named all transitions took a sixth of the server's time.
CREATE FUNCTION lockstep.guard_transition() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF OLD.status IS DISTINCT FROM NEW.status AND NOT EXISTS (
        SELECT FROM lockstep.status_transition s WHERE s.from_status = OLD.status AND s.to_status = NEW.status) THEN
        RAISE EXCEPTION 'task %: a task that is % cannot become %', OLD.task_id, OLD.status, NEW.status
            USING ERRCODE = 'check_violation', HINT = 'lockstep.status_transition lists what is legal.';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER guard_status BEFORE UPDATE OF status ON lockstep.task FOR EACH ROW
WHEN (NEW.status <> 'Completed' OR OLD.status > 'Error')
EXECUTE FUNCTION lockstep.guard_transition();

-- Messages that could not become tasks: the raw bytes and the reason.
CREATE TABLE lockstep.rejected_message (
    rejected_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue_id int NOT NULL REFERENCES lockstep.queue ON DELETE CASCADE,
    kafka_offset bigint NOT NULL,
    run_no bigint,
    seq bigint,
    reason text NOT NULL,
    detail text NOT NULL,
    raw bytea,
    key bytea,
    rejected_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (queue_id, kafka_offset)
);

CREATE TABLE lockstep.event_log (
    event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    event text NOT NULL,
    queue_id int,
    run_no bigint,
    phase_id bigint,
    task_id bigint,
    executor_no int,
    actor text NOT NULL DEFAULT session_user,
    detail text
);
CREATE INDEX event_log_run ON lockstep.event_log (run_no, event_id);
